#include "core/trace/packet_view.h"

#include <string>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/packet_facts.h"

namespace ringscope {
namespace {

using proto::TracePacket;

/// Of several contents the one that trace processor acts on: it looks for these first, in this
/// order, and then takes the packet as used up.
int Rank(uint32_t content) {
  switch (content) {
    case TracePacket::kCompressedPackets:
    case TracePacket::kZstdCompressedPackets:
      return 5;
    case TracePacket::kClockSnapshot:
      return 4;
    case TracePacket::kTraceStats:
      return 3;
    case TracePacket::kServiceEvent:
      return 2;
    case 0:
      return 0;
    default:
      return 1;
  }
}

}  // namespace

TracePacketView ViewTracePacket(Bytes packet) {
  TracePacketView view;
  view.is_well_formed = wire::ForEachField(packet, [&](const wire::VisitedField& field) {
    switch (field.number) {
      case TracePacket::kFirstPacketOnSequence:
        break;
      case TracePacket::kTrustedUid:
        view.is_alien |= field.type != wire::Type::kVarint;
        view.uid = static_cast<int32_t>(field.value);
        break;
      case TracePacket::kTimestamp:
        view.is_alien |= field.type != wire::Type::kVarint;
        view.timestamp = field.value;
        break;
      case TracePacket::kTrustedPacketSequenceId:
        view.is_alien |= field.type != wire::Type::kVarint;
        view.has_sequence_id = true;
        view.sequence_id = static_cast<uint32_t>(field.value);
        break;
      case TracePacket::kInternedData:
        view.interned_data = field.bytes;
        break;
      case TracePacket::kSequenceFlags:
        view.clears_state |=
            (field.value & proto::TracePacket::SequenceFlags::kSeqIncrementalStateCleared) != 0;
        view.needs_state =
            (field.value & proto::TracePacket::SequenceFlags::kSeqNeedsIncrementalState) != 0;
        break;
      case TracePacket::kIncrementalStateCleared:
        view.clears_state |= field.value != 0;
        break;
      case TracePacket::kPreviousPacketDropped:
        view.dropped = static_cast<uint32_t>(field.value);
        break;
      case TracePacket::kTimestampClockId:
        view.timestamp_clock = static_cast<uint32_t>(field.value);
        break;
      case TracePacket::kTracePacketDefaults:
        view.defaults = field.bytes;
        break;
      case TracePacket::kTrustedPid:
        view.pid = static_cast<int32_t>(field.value);
        break;
      case TracePacket::kMachineId:
        view.machine = static_cast<uint32_t>(field.value);
        break;
      default:
        // Contents are messages, or bytes.
        if (field.type != wire::Type::kBytes) {
          view.is_alien |= field.number < TracePacket::kTrackEvent;
          break;
        }
        if (Rank(field.number) < Rank(view.content)) break;
        view.content = field.number;
        view.content_bytes = field.bytes;
    }
  });
  return view;
}

bool IsTracePacket(const TracePacketView& packet) {
  if (packet.is_alien || !packet.is_well_formed) return false;
  if (packet.has_sequence_id || packet.uid || packet.timestamp || packet.pid) return true;
  if (packet.content == TracePacket::kFtraceEvents)
    return wire::LastVarint(packet.content_bytes, proto::FtraceEventBundle::kCpu).has_value();
  return packet.content >= TracePacket::kTraceConfig;
}

ProducerPart SplitAppended(Bytes packet, const TracePacketView& view) {
  if (view.is_well_formed && view.uid && view.has_sequence_id) {
    const Identity identity{static_cast<uint32_t>(*view.uid), view.pid.value_or(-1)};
    std::string appended;
    // Loss bits that a producer wrote precede the service's fields.
    for (const uint32_t dropped : {view.dropped, uint32_t{0}}) {
      appended.clear();
      AppendTrustedFields(appended, identity, view.sequence_id, dropped, view.machine);
      if (wire::AsText(packet).ends_with(appended))
        return {packet.first(packet.size() - appended.size()), dropped};
    }
  }
  return {packet, view.dropped};
}

}  // namespace ringscope
