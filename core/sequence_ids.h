#ifndef RINGSCOPE_CORE_SEQUENCE_IDS_H_
#define RINGSCOPE_CORE_SEQUENCE_IDS_H_

#include <cstdint>
#include <unordered_map>

#include "core/ids.h"

namespace ringscope {

/// The service's trusted_packet_sequence_id: one per {producer, writer}, in order of first use.
/// 1 is the service's own.
class SequenceIds {
 public:
  uint32_t IdOf(SequenceKey key) {
    const auto [entry, is_new] = ids_.try_emplace(key.Packed(), next_);
    if (is_new) ++next_;
    return entry->second;
  }

 private:
  std::unordered_map<uint32_t, uint32_t> ids_;
  uint32_t next_ = 2;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SEQUENCE_IDS_H_
