#include "core/perfetto/trace_stats.h"

#include "core/base/lookup.h"

namespace ringscope {

namespace {

/// Puts the counters of a message that `known` lists into `stats`.
template <typename Stats>
void ReadCounters(Bytes message, const auto& known, Stats& stats) {
  wire::FieldReader counters(message);
  while (const auto counter = counters.Next())
    for (const auto& field : known)
      if (field.proto_field == counter->number && counter->type == wire::Type::kVarint)
        stats.*field.value = counter->value;
}

}  // namespace

std::vector<BufferStats> ReadTraceStats(Bytes trace_stats) {
  std::vector<BufferStats> buffers;
  wire::FieldReader fields(trace_stats);
  while (const auto field = fields.Next()) {
    if (!field->IsBytes(proto::TraceStats::kBufferStats)) continue;
    if (buffers.size() == kMaxStatsBuffers) break;
    ReadCounters(field->bytes, kStatFields, buffers.emplace_back());
  }
  return buffers;
}

std::map<std::pair<uint32_t, uint32_t>, uint64_t> UnknownBufferStats(Bytes trace_stats) {
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> unknown;
  uint32_t buffer = 0;
  wire::ForEachMessage(trace_stats, proto::TraceStats::kBufferStats, [&](Bytes message) {
    wire::FieldReader counters(message);
    while (const auto counter = counters.Next())
      if (counter->type == wire::Type::kVarint && counter->value > 0 &&
          unknown.size() < kMaxStatsBuffers &&
          !Contains(kStatFields, counter->number, &StatField::proto_field))
        unknown[{buffer, counter->number}] = counter->value;
    ++buffer;
  });
  return unknown;
}

ServiceStats ReadServiceStats(Bytes trace_stats) {
  ServiceStats stats;
  ReadCounters(trace_stats, kServiceFields, stats);
  return stats;
}

}  // namespace ringscope
