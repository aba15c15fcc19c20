#include "core/trace/packet_view.h"

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/trusted_fields.h"
#include "core/trace/event_times.h"

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

/// The fields that a packet may have, as bits: each once.
struct FieldBit {
  enum : uint32_t {
    kContent = 1,
    kTimestamp = 2,
    kClockId = 4,
    kFlags = 8,
    kCleared = 16,
    kInterned = 32,
    kFirst = 64,
    // The service's, in the order in which it appends them.
    kUid = 128,
    kSequence = 256,
    kPid = 512,
    kMachine = 1024,
    kDropped = 2048,
  };
};

}  // namespace

void ViewTracePacket(Bytes packet, TracePacketView& view) {
  view = {};
  view.is_well_formed = wire::ForEachField(packet, [&](const wire::VisitedField& field) {
    switch (field.number) {
      case TracePacket::kTrustedUid:
      case TracePacket::kFirstPacketOnSequence:
        break;
      case TracePacket::kTimestamp:
        view.timestamp = field.value;
        break;
      case TracePacket::kTrustedPacketSequenceId:
        view.has_sequence_id = true;
        view.sequence_id = static_cast<uint32_t>(field.value);
        break;
      case TracePacket::kInternedData:
        view.has_interned_data = true;
        break;
      case TracePacket::kSequenceFlags:
        view.clears_state |= (field.value & proto::SequenceFlag::kIncrementalStateCleared) != 0;
        view.needs_state = (field.value & proto::SequenceFlag::kNeedsIncrementalState) != 0;
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
        if (Rank(field.number) < Rank(view.content)) break;
        view.content = field.number;
        view.content_bytes = field.bytes;
    }
  });
}

bool ReadBriefPacket(Bytes packet, BriefPacket& brief) {
  brief = {};
  brief.identity.pid = -1;
  const uint8_t* const start = packet.data();
  const uint8_t* const end = start + packet.size();
  const uint8_t* at = start;
  uint32_t seen = 0;
  while (at != end) {
    const uint8_t* const field = at;
    uint64_t tag = 0, value = 0;
    at = wire::TakeVarint(at, end, tag);
    if (at == nullptr || tag > UINT32_MAX) return false;
    at = wire::TakeLongVarint(at, end, value);
    if (at == nullptr) return false;
    const auto number = static_cast<uint32_t>(tag >> 3);
    uint32_t bit = 0;
    if ((tag & 7) == static_cast<uint64_t>(wire::Type::kBytes)) {
      if (value > static_cast<uint64_t>(end - at)) return false;
      const Bytes bytes(at, static_cast<size_t>(value));
      at += value;
      if (number == TracePacket::kInternedData) {
        bit = FieldBit::kInterned;
      } else {
        if (!HasOnlyOwnTime(number, bytes)) return false;
        bit = FieldBit::kContent;
        brief.content = number;
      }
    } else if ((tag & 7) == static_cast<uint64_t>(wire::Type::kVarint)) {
      switch (number) {
        case TracePacket::kTimestamp:
          bit = FieldBit::kTimestamp;
          brief.timestamp = value;
          brief.has_timestamp = true;
          break;
        case TracePacket::kTimestampClockId:
          bit = FieldBit::kClockId;
          brief.timestamp_clock = static_cast<uint32_t>(value);
          brief.has_timestamp_clock = true;
          break;
        case TracePacket::kSequenceFlags:
          bit = FieldBit::kFlags;
          brief.clears_state |= (value & proto::SequenceFlag::kIncrementalStateCleared) != 0;
          brief.needs_state = (value & proto::SequenceFlag::kNeedsIncrementalState) != 0;
          break;
        case TracePacket::kIncrementalStateCleared:
          bit = FieldBit::kCleared;
          brief.clears_state |= value != 0;
          break;
        case TracePacket::kFirstPacketOnSequence:
          bit = FieldBit::kFirst;
          break;
        case TracePacket::kTrustedUid:
          bit = FieldBit::kUid;
          brief.content_size = static_cast<uint32_t>(field - start);
          brief.identity.uid = static_cast<uint32_t>(value);
          break;
        case TracePacket::kTrustedPacketSequenceId:
          bit = FieldBit::kSequence;
          brief.sequence_id = static_cast<uint32_t>(value);
          break;
        case TracePacket::kTrustedPid:
          bit = FieldBit::kPid;
          brief.identity.pid = static_cast<int32_t>(value);
          break;
        case TracePacket::kMachineId:
          bit = FieldBit::kMachine;
          brief.machine = static_cast<uint32_t>(value);
          break;
        case TracePacket::kPreviousPacketDropped:
          bit = FieldBit::kDropped;
          brief.dropped = static_cast<uint32_t>(value);
          break;
        default:
          return false;
      }
    } else {
      return false;
    }
    // Nothing is there twice. Of the service's fields the uid is the first, the sequence id the
    // second, and nothing but such that follow on them comes after them.
    if (seen >= FieldBit::kUid ? seen >= bit : (seen & bit) != 0 || bit > FieldBit::kUid)
      return false;
    seen |= bit;
    if (bit > FieldBit::kSequence && (seen & FieldBit::kSequence) == 0) return false;
  }
  return (seen & (FieldBit::kContent | FieldBit::kSequence)) ==
             (FieldBit::kContent | FieldBit::kSequence) &&
         brief.sequence_id > kServiceSequenceId && packet.size() <= UINT32_MAX;
}

TracePacketView BriefPacket::View() const {
  TracePacketView view;
  view.has_sequence_id = true;
  view.sequence_id = sequence_id;
  view.machine = machine;
  view.dropped = dropped;
  view.clears_state = clears_state;
  view.needs_state = needs_state;
  if (has_timestamp) view.timestamp = timestamp;
  if (has_timestamp_clock) view.timestamp_clock = timestamp_clock;
  view.content = content;
  return view;
}

}  // namespace ringscope
