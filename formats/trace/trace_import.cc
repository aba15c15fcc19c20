// Reading a trace's packets for an import: who wrote them, when, and what the service reports.

#include "formats/trace/trace_import.h"

#include <algorithm>
#include <array>

#include "core/perfetto/clocks.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/packet_validator.h"
#include "core/perfetto/trusted_fields.h"
#include "formats/trace/service_packets.h"

namespace ringscope {
namespace {

/// Returns true if a packet is the service's own. Traces that other programs made have producers'
/// packets under the service's sequence id, or without one.
bool IsOfService(const TracePacketView& packet) {
  constexpr std::array kReserved = {
      proto::TracePacket::kTraceConfig,           proto::TracePacket::kTraceStats,
      proto::TracePacket::kSynchronizationMarker, proto::TracePacket::kServiceEvent,
      proto::TracePacket::kTraceProvenance,       proto::TracePacket::kProtoVms,
      proto::TracePacket::kRemoteClockSync};
  constexpr std::array kOfProducers = {
      proto::TracePacket::kFtraceEvents, proto::TracePacket::kProcessTree,
      proto::TracePacket::kProcessStats, proto::TracePacket::kTrackEvent,
      proto::TracePacket::kFtraceStats,  proto::TracePacket::kTrackDescriptor};
  const auto is_one_of = [&](const auto& list) {
    return std::ranges::find(list, packet.content) != list.end();
  };
  if (packet.content == 0) return false;
  if (is_one_of(kReserved)) return true;
  if (packet.sequence_id == kServiceSequenceId) return !is_one_of(kOfProducers);
  return packet.sequence_id == 0 && (packet.content == proto::TracePacket::kClockSnapshot ||
                                     packet.content == proto::TracePacket::kTraceUuid);
}

/// Removes the service's fields from a packet, wherever they are.
void StripTrustedFields(Bytes packet, std::string& out) {
  out.clear();
  bool after_trusted = false;
  wire::FieldReader fields(packet);
  while (const auto field = fields.Next()) {
    const bool trusted = field->number == proto::TracePacket::kTrustedUid ||
                         field->number == proto::TracePacket::kTrustedPacketSequenceId ||
                         field->number == proto::TracePacket::kTrustedPid ||
                         field->number == proto::TracePacket::kMachineId;
    after_trusted |= trusted;
    // Loss bits that a producer wrote precede the service's fields.
    if (trusted || (field->number == proto::TracePacket::kPreviousPacketDropped && after_trusted))
      continue;
    out += wire::AsText(field->whole);
  }
}

}  // namespace

Status TraceImport::Add(const RawPacket& packet, const TracePacketView& view) {
  const std::optional<uint64_t> time = scan_.AddPacket(packet.offset, packet.bytes, view);
  if (!view.is_well_formed) {
    ++report_.malformed;
    return {};
  }
  if (IsOfService(view)) return AddService(packet, view);
  ProducerPart part = SplitAppended(packet.bytes, view);
  std::optional<uint64_t> in_file = packet.in_file;
  if (!IsValidPacket({&part.bytes, 1})) {
    StripTrustedFields(packet.bytes, scratch_);
    part.bytes = wire::AsBytes(scratch_);
    in_file.reset();
    if (!IsValidPacket({&part.bytes, 1})) {
      ++report_.malformed;
      return {};
    }
  }
  if (part.bytes.empty()) {  // a buffer returns none either
    ++report_.empty;
    return {};
  }
  Sequence* const sequence = SequenceOf(view);
  if (sequence == nullptr) return {};
  ++report_.packets;
  report_.packet_bytes += part.bytes.size();
  // A buffer of version 1 marks the first packet of every sequence, which is no loss.
  const bool is_first = !std::exchange(sequence->has_packet, true);
  if (is_first && part.dropped == kLossPresent) part.dropped = 0;
  if (time) {
    NoteTime(*time);
    if (*time < sequence->own_ns) ++report_.late;
    sequence->own_ns = *time;
  } else {
    ++report_.untimed;
  }
  // Never earlier than the preceding packet, nor than a read that precedes it in the file.
  sequence->last_ns = std::max({sequence->last_ns, time.value_or(0), read_ns_});
  RS_ASSIGN_OR_RETURN(const StoredPlace place, PlaceOf(part.bytes, in_file));
  return sorter_.Add({.time_ns = sequence->last_ns,
                      .sequence = static_cast<uint32_t>(sequence - sequences_.data()) + 1,
                      .dropped = part.dropped,
                      .place = place});
}

/// Returns the place of a packet's bytes, which are stored if they are not in the sorter's file.
Result<StoredPlace> TraceImport::PlaceOf(Bytes bytes, std::optional<uint64_t> in_file) {
  if (!in_file || options_.sorter.file == nullptr || bytes.size() > UINT32_MAX)
    return sorter_.Store(bytes);
  return StoredPlace{*in_file, static_cast<uint32_t>(bytes.size()), true};
}

Status TraceImport::AddService(const RawPacket& packet, const TracePacketView& view) {
  std::optional<uint64_t> time = view.timestamp;
  switch (view.content) {
    case proto::TracePacket::kTraceConfig:
    case proto::TracePacket::kTraceStats:
    case proto::TracePacket::kTraceProvenance:
      return {};  // the scan has them
    case proto::TracePacket::kClockSnapshot:
      if (const auto taken = BootTimeOf(view.content_bytes)) time = taken;
      break;
    case proto::TracePacket::kServiceEvent: {
      const std::optional<uint32_t> event = ServiceEventIn(view.content_bytes);
      const bool is_read = event == proto::ServiceEvent::kReadTracingBuffersCompleted;
      disabled_ |= event == proto::ServiceEvent::kTracingDisabled;
      reads_during_ |= is_read && !disabled_;
      // It returned the packets before the event in the file, and none after it.
      if (is_read && time) read_ns_ = std::max(read_ns_, *time);
      break;
    }
    default:
      LeaveOut(view.content);
      return {};
  }
  if (time) NoteTime(*time);
  RS_ASSIGN_OR_RETURN(const StoredPlace place, PlaceOf(packet.bytes, packet.in_file));
  return sorter_.Add({.time_ns = time.value_or(latest_ns_.value_or(0)),
                      .sequence = kServiceSlot,
                      .dropped = 0,
                      .place = place});
}

void TraceImport::LeaveOut(uint32_t content) {
  constexpr size_t kMaxKinds = 1000;  // more are no trace's
  if (report_.left_out.size() < kMaxKinds || report_.left_out.contains(content))
    ++report_.left_out[content];
}

void TraceImport::NoteTime(uint64_t time_ns) {
  first_ns_ = std::min(first_ns_.value_or(time_ns), time_ns);
  latest_ns_ = time_ns;
}

/// @return nullptr: the packet has to be left out
TraceImport::Sequence* TraceImport::SequenceOf(const TracePacketView& packet) {
  const auto found = slots_.find(packet.sequence_id);
  if (found != slots_.end()) return &sequences_[found->second];
  if (sequences_.size() == kMaxSequences) {
    ++report_.beyond_limits;
    return nullptr;
  }
  const Identity identity{static_cast<uint32_t>(packet.uid.value_or(0)), packet.pid.value_or(-1)};
  const ProducerId next{static_cast<uint16_t>(producers_.size() + 1)};
  const auto [known, is_new] = producer_of_.try_emplace({identity.uid, identity.pid}, next);
  if (is_new) producers_.push_back({.identity = identity});
  const WriterId writer{++producers_[Raw(known->second) - 1].writers};
  slots_.emplace(packet.sequence_id, static_cast<uint32_t>(sequences_.size()));
  report_.sequences = sequences_.size() + 1;
  report_.producers = producers_.size();
  return &sequences_.emplace_back(Sequence{.id = packet.sequence_id,
                                           .producer = known->second,
                                           .writer = writer,
                                           .packer = ChunkPacker(writer)});
}

}  // namespace ringscope
