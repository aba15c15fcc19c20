#include "formats/trace/trace_import.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/perfetto/clocks.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/packet_validator.h"
#include "core/perfetto/trusted_fields.h"
#include "formats/log/commit_log_format.h"
#include "formats/log/commit_log_writer.h"
#include "formats/trace/service_packets.h"

namespace ringscope {
namespace {

/// Returns true if a packet is the service's own. Traces that other programs made have producers'
/// packets under the service's sequence id, or without one.
bool IsOfService(const TracePacketView& packet) {
  using Packet = proto::TracePacket;
  switch (packet.content) {
    case 0:
      return packet.sequence_id == kServiceSequenceId && !packet.has_interned_data &&
             !packet.defaults;
    case Packet::kFtraceEvents:
    case Packet::kProcessTree:
    case Packet::kProcessStats:
    case Packet::kTrackEvent:
    case Packet::kFtraceStats:
    case Packet::kTrackDescriptor:
      return false;
    case Packet::kTraceConfig:
    case Packet::kTraceStats:
    case Packet::kSynchronizationMarker:
    case Packet::kServiceEvent:
    case Packet::kTraceProvenance:
    case Packet::kProtovms:
    case Packet::kRemoteClockSync:
      return true;
    case Packet::kClockSnapshot:
    case Packet::kTraceUuid:
      return packet.sequence_id <= kServiceSequenceId;
    default:
      return packet.sequence_id == kServiceSequenceId;
  }
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
      const bool is_read = event == proto::TracingServiceEvent::kReadTracingBuffersCompleted;
      disabled_ |= event == proto::TracingServiceEvent::kTracingDisabled;
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
  if (!sequences_.empty() && sequences_[last_].id == packet.sequence_id) return &sequences_[last_];
  if (const auto found = slots_.find(packet.sequence_id); found != slots_.end())
    return &sequences_[last_ = found->second];
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

Status TraceImport::Write(const Append& append) {
  const TraceFacts facts = scan_.Finish();
  RS_RETURN_IF_ERROR(sorter_.Finish());
  bool is_set_up = false;
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<TimedPacket> packet, sorter_.Next());
    // Packets before the first with a known time are at the trace's beginning.
    if (packet) now_ns_ = std::max(packet->time_ns, first_ns_.value_or(0));
    if (!std::exchange(is_set_up, true))
      RS_RETURN_IF_ERROR(WriteSetUp(TraceSession(facts), append));
    if (!packet) return WriteEnd(facts, append);
    RS_RETURN_IF_ERROR(packet->sequence == kServiceSlot ? WriteServicePacket(packet->bytes, append)
                                                        : WritePacket(*packet, facts, append));
  }
}

Status TraceImport::WriteSetUp(const TraceSession& session, const Append& append) {
  constexpr size_t kMaxKeeping = 4096;  // sequences that keep a chunk's memory: 16 MiB
  report_.buffers = session.buffers.size();
  report_.guessed_sizes = session.guessed_sizes;
  report_.has_config = !session.config.empty();
  for (Sequence& sequence : sequences_) {
    const std::optional<BufferId> buffer = session.BufferOf(sequence.id);
    if (!buffer && session.buffers.size() > 1) ++report_.guessed_sequences;
    sequence.buffer = buffer.value_or(BufferId{0});
    if (sequences_.size() <= kMaxKeeping) sequence.packer.KeepMemory();
  }
  LogHeader header = ImportHeader();
  header.source = Origin::kSynthetic;
  header.clock = "boottime";
  header.description = fmt::format(
      "made from the trace {}: {} packets of {} sequences, as if committed at their timestamps; "
      "what was lost before the trace was written is not known",
      options_.name, report_.packets, report_.sequences);
  RS_RETURN_IF_ERROR(Put(append, std::move(header)));
  if (report_.has_config) RS_RETURN_IF_ERROR(Put(append, TraceConfigRecord{session.config}));
  for (const BufferSetUp& buffer : session.buffers) RS_RETURN_IF_ERROR(Put(append, buffer));
  if (!session.lost_in_buffers.empty())
    RS_RETURN_IF_ERROR(
        Put(append, Inexact{InexactReason::kLosses, {}, {}, session.lost_in_buffers}));
  if (report_.untimed == 0) return {};
  return Put(append, Inexact{InexactReason::kTimes,
                             {},
                             {},
                             fmt::format("{} of {} packets", WithCommas(report_.untimed),
                                         WithCommas(report_.packets))});
}

/// Clock snapshots are records, events are notes, and perhaps reads.
Status TraceImport::WriteServicePacket(Bytes packet, const Append& append) {
  const TracePacketView view = ViewTracePacket(packet);
  if (view.content == proto::TracePacket::kClockSnapshot)
    return Put(append, ClockSnapshotRecord{std::string(wire::AsText(view.content_bytes))});
  const std::optional<uint32_t> event = ServiceEventIn(view.content_bytes);
  if (!event) return {};
  // Without reads during the session, a replay reads at its end.
  const bool is_read =
      *event == proto::TracingServiceEvent::kReadTracingBuffersCompleted && reads_during_;
  // The read returned what precedes it in the trace, so that was committed.
  if (is_read) RS_RETURN_IF_ERROR(CloseChunks(append));
  RS_RETURN_IF_ERROR(Put(append, Note{"service: " + ServiceEventName(*event)}));
  return is_read ? Put(append, ReadPass{.buffer = {}, .max_packets = {}, .max_bytes = {}})
                 : Status();
}

Status TraceImport::WritePacket(const TimedPacket& packet, const TraceFacts& facts,
                                const Append& append) {
  Sequence& sequence = sequences_[packet.sequence - 1];
  RS_RETURN_IF_ERROR(Connect(sequence.producer, facts, append));
  if (packet.dropped != 0) {
    ++report_.gaps;
    RS_RETURN_IF_ERROR(Put(
        append,
        RecorderGap{.reason = fmt::format("the trace lacks packets of writer {} here: {}",
                                          Raw(sequence.writer), LossBitsToString(packet.dropped)),
                    .producer = sequence.producer,
                    .records = {},
                    .bytes = {},
                    .from_ns = sequence.written_ns,
                    .to_ns = now_ns_,
                    .writer = sequence.writer,
                    .loss_bits = packet.dropped}));
  }
  sequence.written_ns = now_ns_;
  RS_RETURN_IF_ERROR(Pack(sequence, packet.bytes, append));
  return pending_ > kMaxPending ? CloseChunks(append) : Status{};
}

Status TraceImport::Connect(ProducerId id, const TraceFacts& facts, const Append& append) {
  Producer& producer = producers_[Raw(id) - 1];
  if (std::exchange(producer.connected, true)) return {};
  ProducerConnected connected;
  connected.producer = id;
  connected.uid = producer.identity.uid;
  connected.pid = producer.identity.pid;
  const auto name = facts.process_names.find(connected.pid);
  connected.name = name != facts.process_names.end() ? name->second
                   : connected.pid >= 0              ? fmt::format("pid {}", connected.pid)
                                                     : fmt::format("uid {}", connected.uid);
  return Put(append, std::move(connected));
}

/// Packs a packet, or without one closes the open chunk, and commits what is complete.
Status TraceImport::Pack(Sequence& sequence, std::optional<Bytes> packet, const Append& append) {
  Status status;
  const auto commit = [&](const ChunkHeader& header, Bytes payload) {
    if (!status) return;
    ++report_.chunks;
    scratch_.clear();
    CommitRequestBuilder(scratch_).AddChunk(sequence.buffer, header, payload, /*complete=*/true);
    Commit record;
    record.producer = sequence.producer;
    record.origin = Origin::kSynthetic;
    record.request = wire::AsBytes(scratch_);
    status = Put(append, record);
  };
  pending_ -= sequence.packer.pending();
  if (packet)
    sequence.packer.Add(*packet, commit);
  else
    sequence.packer.Finish(commit);
  pending_ += sequence.packer.pending();
  return status;
}

/// Commits every chunk that is not full.
Status TraceImport::CloseChunks(const Append& append) {
  for (Sequence& sequence : sequences_) RS_RETURN_IF_ERROR(Pack(sequence, std::nullopt, append));
  return {};
}

Status TraceImport::WriteEnd(const TraceFacts& facts, const Append& append) {
  RS_RETURN_IF_ERROR(CloseChunks(append));
  for (RecorderGap& loss : CountedLosses(facts)) {
    ++report_.counted_losses;
    loss.to_ns = now_ns_;
    RS_RETURN_IF_ERROR(Put(append, std::move(loss)));
  }
  const bool has_stats = std::ranges::any_of(facts.buffers, &TraceBuffer::has_stats);
  if (!has_stats && report_.gaps > 0)
    RS_RETURN_IF_ERROR(
        Put(append,
            Inexact{InexactReason::kLosses, {}, {}, "by packets that report a loss before them"}));
  if (!reads_during_) return {};
  return Put(
      append,
      ReadPass{.buffer = {}, .max_packets = {}, .max_bytes = {}, .reason = ReadReason::kFinal});
}

}  // namespace ringscope
