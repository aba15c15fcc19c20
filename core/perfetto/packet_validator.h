#ifndef RINGSCOPE_CORE_PERFETTO_PACKET_VALIDATOR_H_
#define RINGSCOPE_CORE_PERFETTO_PACKET_VALIDATOR_H_

#include <cstdint>
#include <span>

#include "core/perfetto/packet.h"

namespace ringscope {

/// The newest release of Perfetto that is known.
inline constexpr uint32_t kNewestRelease = 58;

/// Whether the service lets a packet into the trace: its top-level fields are well-formed, of wire
/// types 0, 1, 2 or 5, and none is reserved for the service itself. A field's number may be 0, or
/// larger than protobuf allows: it is cut to 32 bits before it is compared.
/// Source: Perfetto's service, as measured. The slices are read in order, without joining.
/// @param release of the service, 54 for v54: later ones reserve more fields
bool IsValidPacket(std::span<const Bytes> slices, uint32_t release = kNewestRelease);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_PACKET_VALIDATOR_H_
