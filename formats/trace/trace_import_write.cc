// What waits for its time in an import, and writing the records: set-up, packets in chunks, what
// the service reports, losses.

#include <fmt/format.h>

#include <set>
#include <utility>

#include "core/base/text.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/packet_facts.h"
#include "formats/log/commit_log_format.h"
#include "formats/log/commit_log_writer.h"
#include "formats/trace/service_packets.h"
#include "formats/trace/trace_import.h"

namespace ringscope {
namespace {

constexpr size_t kMaxKeeping = 4096;  // sequences that keep a chunk's memory: 16 MiB

std::string ProducerName(const std::string& name, Identity identity) {
  if (!name.empty()) return name;
  return identity.pid >= 0 ? fmt::format("pid {}", identity.pid)
                           : fmt::format("uid {}", identity.uid);
}

}  // namespace

/// The next bundle of ftrace events. A drain goes through the CPUs in their order.
Status TraceImport::AddToDrain(Sequence& sequence, uint64_t cpu, uint64_t time_ns,
                               const StoredPlace& bundle) {
  Drain& drain = sequence.drain;
  if (!drain.bundles.empty() && cpu <= drain.last_cpu) RS_RETURN_IF_ERROR(EndDrain(sequence));
  NoteTime(time_ns);
  drain.last_cpu = cpu;
  drain.time_ns = std::max(drain.time_ns, time_ns);
  drain.bundles.push_back(bundle);
  return ++held_ > kMaxHeld ? EndAllDrains() : Status();
}

Status TraceImport::EndDrain(Sequence& sequence) {
  if (sequence.drain.bundles.empty()) return {};
  const Drain drain = std::exchange(sequence.drain, {});
  if (!sequence.held.empty()) RS_RETURN_IF_ERROR(ReleaseHeld(sequence, drain.time_ns));
  if (drain.time_ns < sequence.own_ns) report_.late += drain.bundles.size();
  sequence.own_ns = drain.time_ns;
  uint64_t ns = std::max(sequence.last_ns.value_or(0), drain.time_ns);
  if (read_ns_) ns = std::max(ns, *read_ns_);
  sequence.last_ns = ns;
  held_ -= drain.bundles.size();
  for (const StoredPlace& bundle : drain.bundles) RS_RETURN_IF_ERROR(Sort(sequence, ns, 0, bundle));
  return {};
}

Status TraceImport::EndAllDrains() {
  for (Sequence& sequence : sequences_) RS_RETURN_IF_ERROR(EndDrain(sequence));
  return {};
}

Status TraceImport::ReleaseHeld(Sequence& sequence, uint64_t time_ns) {
  held_ -= sequence.held.size();
  for (const Held& held : std::exchange(sequence.held, {}))
    RS_RETURN_IF_ERROR(Sort(sequence, time_ns, held.dropped, held.place));
  sequence.last_ns = time_ns;
  return {};
}

/// In the order of the file: that of a buffer of version 2, where nothing else is known.
Status TraceImport::ReleaseAllHeld(uint64_t time_ns) {
  std::vector<std::pair<Sequence*, const Held*>> all;
  for (Sequence& sequence : sequences_)
    for (const Held& held : sequence.held) all.emplace_back(&sequence, &held);
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.second->number < b.second->number; });
  for (const auto& [sequence, held] : all) {
    RS_RETURN_IF_ERROR(Sort(*sequence, time_ns, held->dropped, held->place));
    sequence->last_ns = time_ns;
  }
  held_ -= all.size();
  for (Sequence& sequence : sequences_) sequence.held = {};
  return {};
}

Status TraceImport::Sort(const Sequence& sequence, uint64_t time_ns, uint32_t dropped,
                         const StoredPlace& place) {
  const auto slot = static_cast<uint32_t>(&sequence - sequences_.data()) + 1;
  return sorter_.Add({.time_ns = time_ns, .sequence = slot, .dropped = dropped, .place = place});
}

Status TraceImport::Write(const Append& append) {
  RS_RETURN_IF_ERROR(EndAllDrains());
  RS_RETURN_IF_ERROR(ReleaseAllHeld(first_ns_.value_or(0)));
  RS_RETURN_IF_ERROR(sorter_.Finish());
  RS_ASSIGN_OR_RETURN(std::optional<TimedPacket> packet, sorter_.Next());
  now_ns_ = packet ? packet->time_ns : 0;
  RS_RETURN_IF_ERROR(WriteSetUp(append));
  while (packet) {
    now_ns_ = packet->time_ns;
    if (packet->sequence == kServiceSlot)
      RS_RETURN_IF_ERROR(WriteRecordOfService(packet->bytes, append));
    else
      RS_RETURN_IF_ERROR(WritePacket(*packet, append));
    written_bytes_ += packet->bytes.size();
    RS_ASSIGN_OR_RETURN(packet, sorter_.Next());
  }
  return WriteEnd(append);
}

Status TraceImport::WriteSetUp(const Append& append) {
  const std::vector<TraceSession::Buffer> buffers = session_.Buffers();
  report_.buffers = buffers.size();
  report_.has_config = session_.has_config();
  for (Sequence& sequence : sequences_) {
    const std::optional<uint32_t> buffer = session_.BufferOf(sequence.id);
    if (!buffer && buffers.size() > 1) ++report_.guessed_sequences;
    sequence.buffer = buffer.value_or(0);
    if (sequences_.size() <= kMaxKeeping) sequence.packer->KeepMemory();
  }
  LogHeader header = ImportHeader();
  header.source = Origin::kSynthetic;
  header.clock = "boottime";
  header.description = fmt::format(
      "made from the trace {}: {} packets of {} sequences, as if committed at their timestamps; "
      "what was lost before the trace was written is not known",
      options_.name, report_.packets, report_.sequences);
  RS_RETURN_IF_ERROR(Put(append, std::move(header)));
  for (const std::string& config : configs_)
    RS_RETURN_IF_ERROR(Put(append, TraceConfigRecord{config}));
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (!buffers[i].knows_size) ++report_.guessed_sizes;
    RS_RETURN_IF_ERROR(Put(append, BufferSetUp{.id = BufferId{static_cast<uint16_t>(i)},
                                               .index = static_cast<uint32_t>(i),
                                               .size = buffers[i].size,
                                               .policy = buffers[i].policy,
                                               .engine = buffers[i].engine}));
  }
  RS_RETURN_IF_ERROR(WritePrograms(append));
  if (const std::string lost = session_.LostInBuffers(); !lost.empty())
    RS_RETURN_IF_ERROR(Put(append, Inexact{InexactReason::kLosses, {}, {}, lost}));
  if (report_.untimed == 0) return {};
  return Put(append, Inexact{InexactReason::kTimes,
                             {},
                             {},
                             fmt::format("{} of {} packets", WithCommas(report_.untimed),
                                         WithCommas(report_.packets))});
}

/// Sets the programs up for the buffers and producers of their sequences, with the states that they
/// had when the trace was begun. The trace does not name their data sources.
Status TraceImport::WritePrograms(const Append& append) {
  for (size_t i = 0; i < programs_.size(); ++i) {
    const Program& program = programs_[i];
    std::set<std::pair<uint32_t, size_t>> places;
    for (const uint32_t id : program.sequences)
      if (const auto slot = slots_.find(id); slot != slots_.end())
        places.emplace(sequences_[slot->second].buffer, sequences_[slot->second].producer);
    // A VM belongs to one buffer; the trace does not tell which, where its producers write to more.
    for (const auto& [buffer, producer] : places) {
      if (buffer != places.begin()->first) break;
      RS_RETURN_IF_ERROR(
          Put(append, ProtoVmSetUp{.buffer = BufferId{static_cast<uint16_t>(buffer)},
                                   .producer = ProducerId{static_cast<uint16_t>(producer + 1)},
                                   .data_source = fmt::format("program {}", i),
                                   .program = program.program,
                                   .memory_limit_kb = program.memory_limit_kb,
                                   .state = program.state}));
    }
    if (places.empty()) LeaveOut(proto::TracePacket::kProtoVms);
  }
  return {};
}

Status TraceImport::WriteRecordOfService(Bytes packet, const Append& append) {
  wire::FieldReader fields(packet);
  while (const auto field = fields.Next()) {
    if (field->type != wire::Type::kBytes) continue;
    if (field->number == proto::TracePacket::kClockSnapshot)
      return Put(append, ClockSnapshotRecord{std::string(wire::AsText(field->bytes))});
    if (field->number == proto::TracePacket::kServiceEvent) return WriteEvent(field->bytes, append);
  }
  return {};
}

Status TraceImport::WriteEvent(Bytes event, const Append& append) {
  const std::optional<uint32_t> kind = ServiceEventIn(event);
  if (!kind) return {};
  // Without reads during the session, a replay reads at its end.
  const bool is_read = *kind == proto::ServiceEvent::kReadTracingBuffersCompleted && reads_during_;
  // The read returned what precedes it in the trace, so that was committed.
  if (is_read) RS_RETURN_IF_ERROR(CloseChunks(append));
  RS_RETURN_IF_ERROR(Put(append, Note{"service: " + ServiceEventName(*kind)}));
  if (!is_read) return {};
  return Put(append, ReadPass{.buffer = {}, .max_packets = {}, .max_bytes = {}});
}

Status TraceImport::WritePacket(const TimedPacket& packet, const Append& append) {
  Sequence& sequence = sequences_[packet.sequence - 1];
  RS_RETURN_IF_ERROR(Connect(sequence.producer, append));
  if (packet.dropped != 0) {
    ++report_.gaps;
    const auto producer = ProducerId{static_cast<uint16_t>(sequence.producer + 1)};
    RS_RETURN_IF_ERROR(Put(
        append,
        RecorderGap{.reason = fmt::format("the trace lacks packets of writer {} here: {}",
                                          Raw(sequence.writer), LossBitsToString(packet.dropped)),
                    .producer = producer,
                    .records = {},
                    .bytes = {},
                    .from_ns = sequence.written_ns,
                    .to_ns = packet.time_ns,
                    .writer = sequence.writer,
                    .loss_bits = packet.dropped}));
  }
  sequence.written_ns = packet.time_ns;
  RS_RETURN_IF_ERROR(Pack(sequence, packet.bytes, append));
  return pending_ > kMaxPending ? CloseChunks(append) : Status{};
}

Status TraceImport::Connect(size_t index, const Append& append) {
  Producer& producer = producers_[index];
  if (producer.connected) return {};
  producer.connected = true;
  ProducerConnected connected;
  connected.producer = ProducerId{static_cast<uint16_t>(index + 1)};
  connected.uid = producer.identity.uid;
  connected.pid = producer.identity.pid;
  connected.name = ProducerName(producer.name, producer.identity);
  return Put(append, std::move(connected));
}

Status TraceImport::Pack(Sequence& sequence, std::optional<Bytes> packet, const Append& append) {
  Status status;
  const auto commit = [&](const ChunkHeader& header, Bytes payload) {
    if (!status) return;
    ++report_.chunks;
    request_.clear();
    CommitRequestBuilder(request_).AddChunk(BufferId{static_cast<uint16_t>(sequence.buffer)},
                                            header, payload, /*complete=*/true);
    Commit record;
    record.producer = ProducerId{static_cast<uint16_t>(sequence.producer + 1)};
    record.origin = Origin::kSynthetic;
    record.request = wire::AsBytes(request_);
    status = Put(append, record);
  };
  pending_ -= sequence.packer->pending();
  if (packet)
    sequence.packer->Add(*packet, commit);
  else
    sequence.packer->Finish(commit);
  pending_ += sequence.packer->pending();
  return status;
}

Status TraceImport::CloseChunks(const Append& append) {
  for (Sequence& sequence : sequences_) RS_RETURN_IF_ERROR(Pack(sequence, std::nullopt, append));
  return {};
}

Status TraceImport::WriteEnd(const Append& append) {
  RS_RETURN_IF_ERROR(CloseChunks(append));
  for (const TraceSession::Loss& loss : session_.Losses()) {
    ++report_.counted_losses;
    RS_RETURN_IF_ERROR(Put(append, RecorderGap{.reason = loss.what,
                                               .producer = {},
                                               .records = {},
                                               .bytes = loss.bytes,
                                               .from_ns = {},
                                               .to_ns = now_ns_,
                                               .writer = {},
                                               .loss_bits = {}}));
  }
  if (!session_.has_stats() && report_.gaps > 0)
    RS_RETURN_IF_ERROR(
        Put(append,
            Inexact{InexactReason::kLosses, {}, {}, "by packets that report a loss before them"}));
  if (!reads_during_) return {};
  return Put(
      append,
      ReadPass{.buffer = {}, .max_packets = {}, .max_bytes = {}, .reason = ReadReason::kFinal});
}

}  // namespace ringscope
