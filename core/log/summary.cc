#include "core/log/summary.h"

#include <algorithm>

namespace ringscope {
namespace {

std::string Cut(const std::string& text) { return text.substr(0, LifeEvent::kMaxText); }

/// Puts what the record has of an event's fields into one.
template <typename Record>
void Put(LifeEvent& event, const Record& record) {
  if constexpr (requires { record.session; }) event.session = record.session;
  if constexpr (requires { record.change; }) event.change = record.change;
  if constexpr (requires { record.producer; }) event.producer = record.producer;
  if constexpr (requires { record.instance; }) event.instance = record.instance;
  if constexpr (requires { record.instances; }) event.instances = record.instances;
  if constexpr (requires { record.buffer; }) event.buffer = record.buffer;
  if constexpr (requires { record.target_buffer; }) event.buffer = record.target_buffer;
  if constexpr (requires { record.id; }) event.buffer = record.id;
  if constexpr (requires { record.flush; }) event.flush = record.flush;
  if constexpr (requires { record.flags; }) event.flags = record.flags;
  if constexpr (requires { record.clone; }) event.clone = record.clone;
  if constexpr (requires { record.size; }) event.size = record.size;
  if constexpr (requires { record.name; }) event.name = Cut(record.name);
  if constexpr (requires { record.detail; }) event.detail = Cut(record.detail);
  if constexpr (requires { record.policy; }) event.detail = Name(record.policy);
  if constexpr (requires { record.error; }) event.detail = Cut(record.error);
  if constexpr (requires { record.no_flush; }) event.flag = record.no_flush;
  if constexpr (requires { record.stopped; }) event.flag = record.stopped;
  if constexpr (requires { record.transfer; }) event.flag = record.transfer;
  if constexpr (requires { record.success; }) event.flag = record.success;
  if constexpr (requires { record.running; }) event.flag = record.running;
  if constexpr (std::is_same_v<Record, TraceConfigRecord>) event.detail = record.config;
  if constexpr (std::is_same_v<Record, RecorderGap>) event.detail = Cut(record.reason);
  if constexpr (std::is_same_v<Record, Inexact>) event.name = Name(record.reason);
}

/// Cost of an entry of the map and of the list's spare space, roughly.
constexpr size_t kListOverhead = 64;

void Extend(std::optional<uint64_t>& first, std::optional<uint64_t>& last,
            std::optional<uint64_t> time_ns) {
  if (!time_ns) return;
  first = std::min(first.value_or(*time_ns), *time_ns);
  last = std::max(last.value_or(*time_ns), *time_ns);
}

/// The memory of a list's entry with its texts, roughly.
template <typename Entry, typename... Texts>
size_t MemoryOf(const Entry& entry, const Texts&... texts) {
  return ((sizeof(entry) + kListOverhead) + ... + texts.capacity());
}

}  // namespace

std::optional<LifeEvent> LifeEventOf(const Op& op, uint64_t record) {
  if (op.body.Is<LogHeader, ClockSnapshotRecord, WriterRegistered, WriterUnregistered, Commit,
                 CloneRead, Note, RecordingEnded, ClonePass, ProtoVmSetUp, ProtoVmStates,
                 SharedMemoryLook>())
    return std::nullopt;
  LifeEvent event;
  event.time_ns = op.time_ns;
  event.record = record;
  event.kind = op.body.index();
  std::visit([&](const auto& body) { Put(event, body); }, op.body);
  return event;
}

void LogSummaryBuilder::Add(const Op& op, uint64_t number) {
  const SessionBounds::Place place = bounds_.Add(op, number);
  if (place == SessionBounds::Place::kRepeated) return;
  const bool starts = place == SessionBounds::Place::kStart;
  if (sessions_.empty() || (starts && sessions_.size() < kMaxSessions)) {
    SessionSummary& session = sessions_.emplace_back();
    session.first_record = number;
    session.has_life = true;
    lookup_ = {};
  } else if (starts) {
    sessions_.back().truncated = true;
  }
  SessionSummary& summary = sessions_.back();
  ++summary.records;
  ++summary.counts[op.body.index()];
  Extend(summary.first_time_ns, summary.last_time_ns, op.time_ns);
  lookup_.start.Add(op);
  summary.start_ns = lookup_.start.ns();
  if (const auto* commit = std::get_if<Commit>(&op.body)) {
    parser_.Parse(commit->request);  // of a malformed request, what precedes the malformed byte
    for (const auto& chunk : parser_.chunks()) AddChunk(commit->producer, chunk, op.time_ns);
    for (const auto& patch : parser_.patches()) AddPatch(commit->producer, patch, op.time_ns);
    return;
  }

  VisitRecord(
      op.body,
      [&](const LogHeader& header) {
        if (summary.counts[op.body.index()] == 1 &&
            TakeSpace(MemoryOf(header, header.tool, header.uuid, header.host, header.clock,
                               header.description)))
          summary.header = header;
      },
      [&](const BufferSetUp& buffer) {
        if (!TakeSpace(MemoryOf(buffer, buffer.engine))) return;
        lookup_.set_ups[buffer.id] = static_cast<uint32_t>(summary.buffers.size());
        summary.buffers.push_back(buffer);
      },
      [&](const ProducerConnected& producer) {
        if (TakeSpace(MemoryOf(producer, producer.name, producer.sdk)))
          summary.producers.push_back(producer);
      },
      [&](const RecorderGap&) { ++summary.recorder_gaps; },
      [&](const RecordingEnded& end) {
        size_t bytes = sizeof(end);
        for (const RecordingVerdict& verdict : end.verdicts)
          bytes += MemoryOf(verdict, verdict.detail);
        if (TakeSpace(bytes)) summary.end = end;
      });
  if (lookup_.verdicts.Add(op.body)) summary.verdicts = lookup_.verdicts.Verdicts();
  auto event = LifeEventOf(op, number);
  if (event && TakeSpace(MemoryOf(*event, event->name, event->detail) +
                         event->instances.capacity() * sizeof(uint64_t)))
    summary.life.push_back(std::move(*event));
}

bool LogSummaryBuilder::TakeSpace(size_t bytes) {
  if (bytes > kMaxListed - listed_bytes_) {
    sessions_.back().truncated = true;
    return false;
  }
  listed_bytes_ += bytes;
  return true;
}

size_t LogSummaryBuilder::SequenceOf(SequenceKey key, BufferId buffer) {
  constexpr uint32_t kNotSetUp = uint32_t{1} << 31;
  const auto set_up = lookup_.set_ups.find(buffer);
  const bool is_set_up = set_up != lookup_.set_ups.end();
  const uint64_t packed =
      uint64_t{key.Packed()} << 32 | (is_set_up ? set_up->second : kNotSetUp | Raw(buffer));
  if (packed == lookup_.last_key) return lookup_.last_index;

  auto found = lookup_.sequence_index.find(packed);
  if (found == lookup_.sequence_index.end()) {
    if (!TakeSpace(sizeof(SequenceSummary) + sizeof(Recent) + kListOverhead)) return kUnlisted;
    found = lookup_.sequence_index.emplace(packed, sessions_.back().sequences.size()).first;
    sessions_.back().sequences.push_back(
        {.sequence = key,
         .buffer = buffer,
         .set_up = is_set_up ? std::optional<uint64_t>(set_up->second) : std::nullopt});
    lookup_.recent.emplace_back();
  }
  lookup_.last_key = packed;
  lookup_.last_index = found->second;
  return lookup_.last_index;
}

void LogSummaryBuilder::AddChunk(ProducerId producer, const ChunkToMove& chunk,
                                 std::optional<uint64_t> time_ns) {
  const std::optional<ChunkHeader> header = chunk.header();
  if (!header) return;
  ++sessions_.back().chunks;
  sessions_.back().chunk_bytes += chunk.data->size();

  const size_t index = SequenceOf({producer, header->writer}, TargetBufferOf(chunk.target_buffer));
  if (index == kUnlisted) return;
  SequenceSummary& sequence = sessions_.back().sequences[index];
  ++sequence.commits;
  sequence.bytes += chunk.data->size() - kChunkHeaderSize;
  Extend(sequence.first_time_ns, sequence.last_time_ns, time_ns);

  Recent& recent = lookup_.recent[index];
  const FinishedPart part = FinishedPartOf(header->fragments, header->flags, !chunk.incomplete);
  const bool continues = part.fragments > 0 && (part.flags & kFirstContinues) != 0;
  const auto packets = static_cast<uint16_t>(part.fragments - (continues ? 1 : 0));
  const std::optional<uint32_t> id = Raw(header->chunk);
  auto known = std::ranges::find(recent.chunks, id, &Recent::Chunk::id);
  if (known == recent.chunks.end()) {
    ++sequence.chunks;
    known = &recent.chunks[recent.next];
    *known = {.id = id};
    recent.next = (recent.next + 1) % recent.chunks.size();
  }
  if (packets <= known->packets) return;
  sequence.packets += packets - known->packets;
  known->packets = packets;
}

void LogSummaryBuilder::AddPatch(ProducerId producer, const ChunkToPatch& patch,
                                 std::optional<uint64_t> time_ns) {
  const auto patches = static_cast<uint64_t>(std::ranges::count_if(
      patch.patches, [](const PatchSpan& span) { return span.data.size() == 4; }));
  sessions_.back().patches += patches;
  const size_t index =
      SequenceOf(patch.NameFor(producer).sequence, TargetBufferOf(patch.target_buffer));
  if (index == kUnlisted) return;
  SequenceSummary& sequence = sessions_.back().sequences[index];
  sequence.patches += patches;
  Extend(sequence.first_time_ns, sequence.last_time_ns, time_ns);
}

}  // namespace ringscope
