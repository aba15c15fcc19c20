#ifndef RINGSCOPE_CORE_PERFETTO_PACKET_VALIDATOR_H_
#define RINGSCOPE_CORE_PERFETTO_PACKET_VALIDATOR_H_

#include <span>

#include "core/perfetto/packet.h"

namespace ringscope {

/// Whether the service lets a packet into the trace: its top-level fields are well-formed, of wire
/// types 0, 1, 2 or 5, and none is reserved for the service itself.
/// Source: Perfetto v58's list of reserved fields. The slices are read in order, without joining.
bool IsValidPacket(std::span<const Bytes> slices);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_PACKET_VALIDATOR_H_
