// What the packets of the service report of its session, and producers of themselves.

#include <algorithm>
#include <utility>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/trace_config_facts.h"
#include "core/perfetto/track_names.h"
#include "core/trace/trace_scan.h"

namespace ringscope {
namespace {

using proto::TracePacket;

/// A name; longer ones are cut.
std::string NameIn(Bytes bytes, size_t longest = 256) {
  return std::string(wire::AsText(bytes.first(std::min(bytes.size(), longest))));
}

/// Sum of a repeated field of numbers, packed or not.
uint64_t SumOf(const wire::Field& field) {
  if (field.type != wire::Type::kBytes) return field.value;
  uint64_t sum = 0;
  Bytes rest = field.bytes;
  while (true) {
    const wire::Varint number = wire::ReadVarint(rest);
    if (number.size == 0) return sum;
    sum += number.value;
    rest = rest.subspan(number.size);
  }
}

WriterAccount ReadWriter(Bytes message) {
  using Stats = proto::WriterStats;
  WriterAccount writer;
  wire::FieldReader values(message);
  while (const auto value = values.Next()) {
    if (value->number == Stats::kSequenceId) writer.sequence = static_cast<uint32_t>(value->value);
    if (value->number == Stats::kBuffer) writer.buffer = static_cast<uint32_t>(value->value);
    if (value->number == Stats::kChunkPayloadHistogramCounts) writer.chunks += SumOf(*value);
    if (value->number == Stats::kChunkPayloadHistogramSum) writer.bytes += SumOf(*value);
  }
  return writer;
}

}  // namespace

void TraceScan::AddOwnFacts(const TracePacketView& packet) {
  const Bytes content = packet.content_bytes;
  switch (packet.content) {
    case TracePacket::kTraceConfig:
      return AddConfig(content);
    case TracePacket::kTraceStats:
      if (packet.machine == 0) AddStats(content);
      return;
    case TracePacket::kTraceProvenance:
      return AddListing(content);
    case TracePacket::kServiceEvent:
      return AddServiceEvent(packet);
    case TracePacket::kFtraceEvents:
      return FactsOf(packet.machine).ftrace.AddBundle(content);
    case TracePacket::kFtraceStats:
      return FactsOf(packet.machine).ftrace.AddStats(content);
    case TracePacket::kSystemInfo:
      if (const auto version = wire::LastBytes(content, proto::SystemInfo::kTracingServiceVersion);
          version && packet.machine == 0)
        facts_.service_version = NameIn(*version, 1024);
      return;
    default:
      return;
  }
}

void TraceScan::AddConfig(Bytes message) {
  const bool is_kept = message.size() <= TraceFacts::kMaxConfigBytes;
  facts_.config_bytes_left_out = is_kept ? 0 : message.size();
  facts_.config = is_kept ? std::optional<std::string>(wire::AsText(message)) : std::nullopt;
  const TraceConfigFacts config = ReadTraceConfigFacts(message);
  if (!config.write_into_file) return;
  for (uint32_t i = 0; i < config.buffers.size(); ++i)
    if (config.buffers[i].policy == FillPolicy::kDiscard) ++facts_.discards_into_file[i];
}

void TraceScan::AddServiceEvent(const TracePacketView& packet) {
  const auto ns = static_cast<int64_t>(packet.timestamp.value_or(0));
  wire::FieldReader fields(packet.content_bytes);
  while (const auto field = fields.Next()) {
    if (facts_.moments.size() < TraceFacts::kMaxMoments)
      facts_.moments.push_back({field->number, ns});
    if (packet.machine != 0) continue;
    if (field->number == proto::ServiceEvent::kAllDataSourcesFlushed) order_.AddFlush();
    if (field->number == proto::ServiceEvent::kReadTracingBuffersCompleted) order_.AddRead();
  }
}

void TraceScan::AddStats(Bytes stats) {
  constexpr uint64_t kSucceeded = 1, kFailed = 2;
  constexpr uint32_t kFilterStats = 11, kErrors = 4;
  ++facts_.stats_packets;
  packets_since_stats_ = 0;
  facts_.service = ReadServiceStats(stats);
  facts_.final_flushes_succeeded += facts_.service.final_flush_outcome == kSucceeded ? 1 : 0;
  facts_.final_flushes_failed += facts_.service.final_flush_outcome == kFailed ? 1 : 0;
  const std::vector<BufferStats> counters = ReadTraceStats(stats);
  facts_.buffers.resize(std::max(facts_.buffers.size(), counters.size()));
  for (size_t i = 0; i < counters.size(); ++i) {
    facts_.buffers[i].stats = counters[i];
    facts_.buffers[i].has_stats = true;
  }
  if (const auto filter = wire::LastBytes(stats, kFilterStats)) {
    facts_.has_filter = true;
    facts_.filter_errors = wire::LastVarint(*filter, kErrors).value_or(0);
  }
  AddWriterStats(stats);
}

/// Assigns sequences to buffers, and what they lost so far.
void TraceScan::AddWriterStats(Bytes stats) {
  facts_.writers.clear();
  std::map<uint32_t, TraceBuffer> losses;  // of the buffers whose sequences are named
  wire::FieldReader fields(stats);
  while (const auto field = fields.Next()) {
    if (field->number != proto::TraceStats::kWriterStats) continue;
    const WriterAccount writer = ReadWriter(field->bytes);
    if (facts_.writers.size() < TraceFacts::kMaxWriters) facts_.writers.push_back(writer);
    const auto known = sequences_.find(KeyOf(0, writer.sequence));
    if (known == sequences_.end() || known->second.facts.all.packets == 0 ||
        writer.buffer >= kMaxStatsBuffers)
      continue;
    TraceSequence& sequence = known->second.facts;
    sequence.buffer = writer.buffer;
    losses[writer.buffer].losses += sequence.losses;
    losses[writer.buffer].dropped_sequences += sequence.is_dropped() ? 1 : 0;
  }
  if (!losses.empty())
    facts_.buffers.resize(std::max<size_t>(facts_.buffers.size(), losses.rbegin()->first + 1));
  for (const auto& [index, sum] : losses) {
    facts_.buffers[index].has_losses = true;
    facts_.buffers[index].losses = sum.losses;
    facts_.buffers[index].dropped_sequences = sum.dropped_sequences;
  }
}

/// The sequences of each buffer that the service has seen so far.
void TraceScan::AddListing(Bytes listing) {
  uint32_t index = 0;
  wire::FieldReader buffers(listing);
  while (const auto buffer = buffers.Next()) {
    if (buffer->number != proto::TraceProvenance::kBuffers) continue;
    wire::FieldReader listed(buffer->bytes);
    while (const auto entry = listed.Next()) {
      if (entry->number != proto::ProvenanceBuffer::kSequences) continue;
      const auto id = wire::LastVarint(entry->bytes, proto::ProvenanceSequence::kId);
      Sequence* const sequence = id ? SequenceOf(0, static_cast<uint32_t>(*id)) : nullptr;
      if (sequence != nullptr) sequence->facts.buffer = index;
    }
    if (++index == kMaxStatsBuffers) return;
  }
}

void TraceScan::NameProcess(int32_t pid, Bytes name) {
  constexpr size_t kMaxNames = 20'000;
  if (!name.empty() && facts_.process_names.size() < kMaxNames)
    facts_.process_names.try_emplace(pid, NameIn(name));
}

void TraceScan::AddProcessNames(const TracePacketView& packet, TraceSequence& sequence) {
  using Process = proto::ProcessTreeProcess;
  if (packet.content == TracePacket::kProcessTree) {
    wire::FieldReader fields(packet.content_bytes);
    while (const auto field = fields.Next()) {
      if (field->number != proto::ProcessTree::kProcesses) continue;
      Bytes name;  // the first word of its command line
      wire::FieldReader values(field->bytes);
      while (const auto value = values.Next())
        if (value->number == Process::kCmdline && name.empty()) name = value->bytes;
      NameProcess(static_cast<int32_t>(wire::LastVarint(field->bytes, Process::kPid).value_or(0)),
                  name);
    }
  }
  if (packet.content != TracePacket::kTrackDescriptor) return;
  const TrackNames names = ReadTrackNames(packet.content_bytes);
  if (names.pid) NameProcess(*names.pid, names.process);
  if (sequence.thread_name.empty()) sequence.thread_name = NameIn(names.thread, 64);
}

}  // namespace ringscope
