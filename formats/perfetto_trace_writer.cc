#include <algorithm>
#include <string>
#include <vector>

#include "core/stats.h"
#include "core/trusted_fields.h"
#include "core/wire.h"
#include "formats/perfetto_trace.h"

namespace ringscope {
namespace {

constexpr size_t kFlushAt = size_t{64} << 10;
constexpr uint32_t kPacketField = 1;  // of Trace

/// Fields of TracePacket that only the service writes.
enum ServiceField : uint32_t { kClockSnapshot = 6, kTraceConfig = 33, kTraceStats = 35 };

// Field numbers of TraceStats and its parts.
enum TraceStatsField : uint32_t {
  kBufferStats = 1,
  kProducersConnected = 2,
  kProducersSeen = 3,
  kTracingSessions = 6,
  kTotalBuffers = 7,
  kChunksDiscarded = 8,
  kPatchesDiscarded = 9,
  kInvalidPackets = 10,
  kFlushesRequested = 12,
  kFlushesSucceeded = 13,
  kFlushesFailed = 14,
  kHistogramDef = 17,
  kWriterStats = 18,
};
enum WriterStatsField : uint32_t {
  kSequenceId = 1,
  kHistogramCounts = 2,  // packed
  kHistogramSums = 3,    // packed
  kBuffer = 4,
};

void AppendBufferStats(std::string& out, const BufferStats& stats) {
  std::string message;
  for (const StatField& field : kStatFields)
    wire::AppendUint(message, field.proto_field, stats.*field.value);
  wire::AppendBytes(out, kBufferStats, wire::AsBytes(message));
}

template <typename T>
void AppendPacked(std::string& out, uint32_t number, const T& values) {
  std::string packed;
  for (const uint64_t value : values) wire::AppendVarint(packed, value);
  wire::AppendBytes(out, number, wire::AsBytes(packed));
}

void AppendWriterStats(std::string& out, uint32_t sequence_id, uint64_t buffer,
                       const WriterHistogram& histogram) {
  std::string message;
  wire::AppendUint(message, kSequenceId, sequence_id);
  wire::AppendUint(message, kBuffer, buffer);
  AppendPacked(message, kHistogramCounts, histogram.counts);
  AppendPacked(message, kHistogramSums, histogram.sums);
  wire::AppendBytes(out, kWriterStats, wire::AsBytes(message));
}

void AppendServiceStats(std::string& out, const ServiceStats& stats) {
  const std::pair<uint32_t, uint64_t> fields[] = {
      {kProducersConnected, stats.producers_connected},
      {kProducersSeen, stats.producers_seen},
      {kTracingSessions, 1},
      {kTotalBuffers, stats.total_buffers},
      {kChunksDiscarded, stats.chunks_discarded},
      {kPatchesDiscarded, stats.patches_discarded},
      {kInvalidPackets, stats.invalid_packets},
      {kFlushesRequested, stats.flushes_requested},
      {kFlushesSucceeded, stats.flushes_succeeded},
      {kFlushesFailed, stats.flushes_failed},
  };
  for (const auto& [number, value] : fields) wire::AppendUint(out, number, value);
}

}  // namespace

Status TraceWriter::AddPacket(const SessionPacket& session_packet) {
  if (!session_packet.valid) return {};
  const Packet& packet = *session_packet.packet;
  scratch_.clear();
  AppendTrustedFields(scratch_, packet.identity, session_packet.sequence_id, packet.dropped);
  wire::AppendTag(pending_, kPacketField, wire::Type::kBytes);
  wire::AppendVarint(pending_, packet.size + scratch_.size());
  for (const Bytes slice : packet.slices) pending_ += wire::AsText(slice);
  pending_ += scratch_;
  ++packets_;
  return FlushIfLarge();
}

Status TraceWriter::AddTraceConfig(Bytes config) { return AddServicePacket(kTraceConfig, config); }

Status TraceWriter::AddClockSnapshot(Bytes snapshot) {
  return AddServicePacket(kClockSnapshot, snapshot);
}

Status TraceWriter::AddRawPacket(Bytes packet) {
  wire::AppendBytes(pending_, kPacketField, packet);
  ++packets_;
  return FlushIfLarge();
}

Status TraceWriter::AddTraceStats(Session& session) {
  std::vector<const SessionBuffer*> buffers;
  for (const auto& [id, buffer] : session.buffers()) buffers.push_back(&buffer);
  // Readers number the buffers by their place in this packet.
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const auto* a, const auto* b) { return a->index < b->index; });

  std::string stats;
  for (const SessionBuffer* buffer : buffers) AppendBufferStats(stats, buffer->engine->stats());
  for (const uint32_t limit : kHistogramLimits) wire::AppendUint(stats, kHistogramDef, limit);
  for (size_t i = 0; i < buffers.size(); ++i) {
    buffers[i]->engine->VisitWriterStats([&](const WriterStats& writer) {
      AppendWriterStats(stats, session.sequence_ids().IdOf(writer.sequence), i, *writer.histogram);
    });
  }
  AppendServiceStats(stats, session.stats());
  return AddServicePacket(kTraceStats, wire::AsBytes(stats));
}

Status TraceWriter::Finish() {
  if (pending_.empty()) return {};
  Status status = sink_.Write(pending_);
  pending_.clear();
  return status;
}

Status TraceWriter::AddServicePacket(uint32_t field, Bytes content) {
  scratch_.clear();
  wire::AppendBytes(scratch_, field, content);
  AppendTrustedFields(scratch_, Identity{.uid = 0, .pid = -1}, kServiceSequenceId, 0);
  wire::AppendBytes(pending_, kPacketField, wire::AsBytes(scratch_));
  ++packets_;
  return FlushIfLarge();
}

Status TraceWriter::FlushIfLarge() { return pending_.size() < kFlushAt ? Status{} : Finish(); }

}  // namespace ringscope
