// What the packets of the service tell about its session, and what producers tell of themselves.

#include <algorithm>
#include <utility>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/trace_config_facts.h"
#include "core/perfetto/track_names.h"
#include "core/perfetto/trusted_fields.h"
#include "core/trace/trace_scan.h"

namespace ringscope {
namespace {

using proto::TracePacket;

constexpr size_t kMaxNames = 20'000;

/// Names and the like; longer ones are cut.
std::string TextOf(Bytes bytes) {
  constexpr size_t kLongest = 1024;
  return std::string(wire::AsText(bytes.first(std::min(bytes.size(), kLongest))));
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
  WriterAccount writer;
  wire::FieldReader values(message);
  while (const auto value = values.Next()) {
    if (value->number == proto::WriterStats::kSequenceId)
      writer.sequence = static_cast<uint32_t>(value->value);
    if (value->number == proto::WriterStats::kBuffer)
      writer.buffer = static_cast<uint32_t>(value->value);
    if (value->number == proto::WriterStats::kChunkPayloadHistogramCounts)
      writer.chunks += SumOf(*value);
    if (value->number == proto::WriterStats::kChunkPayloadHistogramSum)
      writer.bytes += SumOf(*value);
  }
  return writer;
}

}  // namespace

void TraceScan::AddOwnFacts(const TracePacketView& packet, int64_t ns) {
  if (packet.sequence_id != kServiceSequenceId) {
    ++facts_.data_packets;
    if (ns != kNoTime) ringscope::AddTo(facts_.all.span, ns);
  }
  const Bytes content = packet.content_bytes;
  switch (packet.content) {
    case TracePacket::kTraceConfig:
      NoteDiscards(content);
      facts_.config_bytes_left_out =
          content.size() > TraceFacts::kMaxConfigBytes ? content.size() : 0;
      facts_.config.reset();
      if (facts_.config_bytes_left_out == 0) facts_.config.emplace(wire::AsText(content));
      break;
    case TracePacket::kTraceStats:
      if (packet.machine == 0) AddStats(content);
      break;
    case TracePacket::kTraceProvenance:
      AddListing(content);
      break;
    case TracePacket::kServiceEvent:
      AddServiceEvent(packet);
      break;
    case TracePacket::kFtraceEvents:
      FactsOf(packet.machine).ftrace.AddBundle(content);
      break;
    case TracePacket::kFtraceStats:
      FactsOf(packet.machine).ftrace.AddStats(content);
      break;
    case TracePacket::kSystemInfo: {
      wire::FieldReader fields(content);
      while (const auto field = fields.Next())
        if (field->number == proto::SystemInfo::kTracingServiceVersion && packet.machine == 0)
          facts_.service_version = TextOf(field->bytes);
      break;
    }
    default:
      break;
  }
}

void TraceScan::NoteDiscards(Bytes message) {
  const TraceConfigFacts config = ReadTraceConfigFacts(message);
  if (!config.write_into_file) return;
  for (size_t i = 0; i < config.buffers.size(); ++i)
    if (config.buffers[i].policy == FillPolicy::kDiscard)
      ++facts_.discards_into_file[static_cast<uint32_t>(i)];
}

void TraceScan::AddServiceEvent(const TracePacketView& packet) {
  const auto ns = static_cast<int64_t>(packet.timestamp.value_or(0));
  wire::FieldReader fields(packet.content_bytes);
  while (const auto field = fields.Next()) {
    if (facts_.moments.size() < TraceFacts::kMaxMoments)
      facts_.moments.push_back({field->number, ns, field->value});
    if (packet.machine != 0) continue;
    if (field->number == proto::ServiceEvent::kAllDataSourcesFlushed) order_.AddFlush();
    if (field->number == proto::ServiceEvent::kReadTracingBuffersCompleted) order_.AddRead();
  }
}

void TraceScan::AddStats(Bytes stats) {
  ++facts_.stats_packets;
  packets_since_stats_ = 0;
  facts_.service = ReadServiceStats(stats);
  constexpr uint64_t kSucceeded = 1, kFailed = 2;
  facts_.final_flushes_succeeded += facts_.service.final_flush_outcome == kSucceeded ? 1 : 0;
  facts_.final_flushes_failed += facts_.service.final_flush_outcome == kFailed ? 1 : 0;
  const std::vector<BufferStats> counters = ReadTraceStats(stats);
  facts_.buffers.resize(std::max(facts_.buffers.size(), counters.size()));
  for (size_t i = 0; i < counters.size(); ++i) {
    facts_.buffers[i].stats = counters[i];
    facts_.buffers[i].has_stats = true;
  }

  facts_.writers.clear();
  std::map<uint32_t, TraceBuffer> losses;  // of the buffers whose sequences are named
  wire::FieldReader fields(stats);
  while (const auto field = fields.Next()) {
    constexpr uint32_t kFilterStats = 11, kErrors = 4;
    if (field->number == kFilterStats) {
      facts_.has_filter = true;
      facts_.filter_errors = wire::LastVarint(field->bytes, kErrors).value_or(0);
    }
    if (field->number != proto::TraceStats::kWriterStats) continue;
    const WriterAccount writer = ReadWriter(field->bytes);
    if (facts_.writers.size() < TraceFacts::kMaxWriters) facts_.writers.push_back(writer);
    const auto known = sequences_.find(KeyOf(0, writer.sequence));
    if (known == sequences_.end() || known->second.facts.all.packets == 0 ||
        writer.buffer >= kMaxStatsBuffers)
      continue;
    TraceSequence& sequence = known->second.facts;
    sequence.buffer = writer.buffer;
    TraceBuffer& sum = losses[writer.buffer];
    sum.losses += sequence.losses;
    sum.dropped_sequences += sequence.is_dropped() ? 1 : 0;
  }
  if (!losses.empty())
    facts_.buffers.resize(std::max<size_t>(facts_.buffers.size(), losses.rbegin()->first + 1));
  for (const auto& [index, sum] : losses) {
    TraceBuffer& buffer = facts_.buffers[index];
    buffer.has_losses = true;
    buffer.losses = sum.losses;
    buffer.dropped_sequences = sum.dropped_sequences;
  }
}

/// The sequences of each buffer, as far as they are there already.
void TraceScan::AddListing(Bytes listing) {
  uint32_t index = 0;
  wire::FieldReader buffers(listing);
  while (const auto buffer = buffers.Next()) {
    if (buffer->number != proto::TraceProvenance::kBuffers) continue;
    wire::FieldReader listed(buffer->bytes);
    while (const auto entry = listed.Next()) {
      if (entry->number != proto::ProvenanceBuffer::kSequences) continue;
      wire::FieldReader values(entry->bytes);
      while (const auto value = values.Next()) {
        if (value->number != proto::ProvenanceSequence::kId) continue;
        TracePacketView named;
        named.sequence_id = static_cast<uint32_t>(value->value);
        if (Sequence* const sequence = SequenceOf(named)) sequence->facts.buffer = index;
      }
    }
    if (++index == kMaxStatsBuffers) return;
  }
}

void TraceScan::AddProcessNames(const TracePacketView& packet, TraceSequence& sequence) {
  const auto name_process = [this](int32_t pid, Bytes name) {
    if (name.empty() || facts_.process_names.size() >= kMaxNames) return;
    facts_.process_names.try_emplace(pid, TextOf(name.first(std::min<size_t>(name.size(), 256))));
  };
  if (packet.content == TracePacket::kProcessTree) {
    wire::FieldReader fields(packet.content_bytes);
    while (const auto field = fields.Next()) {
      if (field->number != proto::ProcessTree::kProcesses) continue;
      int32_t pid = 0;
      Bytes name;
      wire::FieldReader values(field->bytes);
      while (const auto value = values.Next()) {
        if (value->number == proto::ProcessTreeProcess::kPid)
          pid = static_cast<int32_t>(value->value);
        if (value->number == proto::ProcessTreeProcess::kCmdline && name.empty())
          name = value->bytes;
      }
      name_process(pid, name);
    }
  }
  if (packet.content != TracePacket::kTrackDescriptor) return;
  const TrackNames names = ReadTrackNames(packet.content_bytes);
  if (names.pid) name_process(*names.pid, names.process);
  if (sequence.thread_name.empty())
    sequence.thread_name = TextOf(names.thread.first(std::min<size_t>(names.thread.size(), 64)));
}

}  // namespace ringscope
