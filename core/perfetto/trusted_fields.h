#ifndef RINGSCOPE_CORE_PERFETTO_TRUSTED_FIELDS_H_
#define RINGSCOPE_CORE_PERFETTO_TRUSTED_FIELDS_H_

#include <cstdint>
#include <string>

#include "core/base/ids.h"
#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope {

/// trusted_packet_sequence_id of the service's own packets.
inline constexpr uint32_t kServiceSequenceId = 1;

/// Appends what the service appends to a packet on its way into a trace, in its order.
/// @param dropped previous_packet_dropped @param machine machine_id; 0: the service's own machine
inline void AppendTrustedFields(std::string& out, Identity identity, uint32_t sequence_id,
                                uint32_t dropped, uint32_t machine = 0) {
  // An int32 on the wire: the upper half of the uids is negative there and takes ten bytes.
  const auto uid = static_cast<uint64_t>(int64_t{static_cast<int32_t>(identity.uid)});
  wire::AppendUint(out, proto::TracePacket::kTrustedUid, uid);
  wire::AppendUint(out, proto::TracePacket::kTrustedPacketSequenceId, sequence_id);
  if (identity.pid >= 0)
    wire::AppendUint(out, proto::TracePacket::kTrustedPid, static_cast<uint64_t>(identity.pid));
  if (machine != 0) wire::AppendUint(out, proto::TracePacket::kMachineId, machine);
  if (dropped != 0) wire::AppendUint(out, proto::TracePacket::kPreviousPacketDropped, dropped);
}

/// Bytes that AppendTrustedFields appends.
inline size_t TrustedFieldsSize(Identity identity, uint32_t sequence_id, uint32_t dropped,
                                uint32_t machine = 0) {
  constexpr auto kFieldSize = [](uint32_t number, uint64_t value) {
    return wire::VarintSize(uint64_t{number} << 3) + wire::VarintSize(value);
  };
  const auto uid = static_cast<uint64_t>(int64_t{static_cast<int32_t>(identity.uid)});
  size_t size = kFieldSize(proto::TracePacket::kTrustedUid, uid) +
                kFieldSize(proto::TracePacket::kTrustedPacketSequenceId, sequence_id);
  if (identity.pid >= 0)
    size += kFieldSize(proto::TracePacket::kTrustedPid, static_cast<uint64_t>(identity.pid));
  if (machine != 0) size += kFieldSize(proto::TracePacket::kMachineId, machine);
  if (dropped != 0) size += kFieldSize(proto::TracePacket::kPreviousPacketDropped, dropped);
  return size;
}

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_TRUSTED_FIELDS_H_
