#ifndef RINGSCOPE_CORE_PERFETTO_FILL_POLICY_H_
#define RINGSCOPE_CORE_PERFETTO_FILL_POLICY_H_

#include <array>
#include <cstdint>

#include "core/base/enum_names.h"

namespace ringscope {

/// What a buffer does when it is full: overwrite the oldest chunks, or discard the new ones.
enum class FillPolicy : uint8_t { kRingBuffer, kDiscard };

template <>
inline constexpr std::array kEnumNames<FillPolicy> = {"ring_buffer", "discard"};

/// The name of a policy in a trace config's text format.
constexpr const char* ConfigName(FillPolicy policy) {
  return policy == FillPolicy::kDiscard ? "DISCARD" : "RING_BUFFER";
}

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_FILL_POLICY_H_
