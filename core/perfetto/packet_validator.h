#ifndef RINGSCOPE_CORE_PERFETTO_PACKET_VALIDATOR_H_
#define RINGSCOPE_CORE_PERFETTO_PACKET_VALIDATOR_H_

#include <cstdint>
#include <span>

#include "core/perfetto/packet.h"

namespace ringscope {

/// The newest release of Perfetto that is known.
inline constexpr uint32_t kNewestRelease = 58;

/// Returns true if the service lets a packet into the trace: its top-level fields are well-formed,
/// and none is reserved for the service itself. Numbers are cut to 32 bits. Source: the service, as
/// measured.
/// @param release of the service, 54 for v54: later ones reserve more fields
bool IsValidPacket(std::span<const Bytes> slices, uint32_t release = kNewestRelease);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_PACKET_VALIDATOR_H_
