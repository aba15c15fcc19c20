// Writing the records of an import: set-up, packets in chunks, what the service reports, losses.

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/fields.h"
#include "formats/log/commit_log_format.h"
#include "formats/log/commit_log_writer.h"
#include "formats/trace/service_packets.h"
#include "formats/trace/trace_import.h"

namespace ringscope {

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
    written_bytes_ += packet->bytes.size();
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
  const bool is_read = *event == proto::ServiceEvent::kReadTracingBuffersCompleted && reads_during_;
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
