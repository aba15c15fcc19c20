#include "core/perfetto/trace_stats.h"

#include "core/base/lookup.h"

namespace ringscope {

namespace {

/// Puts the counters of a message that `known` lists into `stats`.
template <typename Stats>
void ReadCounters(Bytes message, const auto& known, Stats& stats) {
  for (const wire::Field& counter : wire::FieldReader(message))
    for (const auto& field : known)
      if (counter.IsVarint(field.proto_field)) stats.*field.value = counter.value;
}

}  // namespace

std::vector<BufferStats> ReadTraceStats(Bytes trace_stats) {
  std::vector<BufferStats> buffers;
  wire::ForEachMessage(trace_stats, proto::TraceStats::kBufferStats, [&](Bytes message) {
    if (buffers.size() < kMaxStatsBuffers)
      ReadCounters(message, kStatFields, buffers.emplace_back());
  });
  return buffers;
}

std::map<std::pair<uint32_t, uint32_t>, uint64_t> UnknownBufferStats(Bytes trace_stats) {
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> unknown;
  uint32_t buffer = 0;
  wire::ForEachMessage(trace_stats, proto::TraceStats::kBufferStats, [&](Bytes message) {
    for (const wire::Field& counter : wire::FieldReader(message))
      if (counter.type == wire::Type::kVarint && counter.value > 0 &&
          unknown.size() < kMaxStatsBuffers &&
          !Contains(kStatFields, counter.number, &StatField::proto_field))
        unknown[{buffer, counter.number}] = counter.value;
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
