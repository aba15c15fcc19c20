#include "core/perfetto/trace_stats.h"

#include <algorithm>

namespace ringscope {

std::vector<BufferStats> ReadTraceStats(Bytes trace_stats) {
  std::vector<BufferStats> buffers;
  wire::FieldReader fields(trace_stats);
  while (const auto field = fields.Next()) {
    if (!field->IsBytes(proto::TraceStats::kBufferStats)) continue;
    if (buffers.size() == kMaxStatsBuffers) break;
    BufferStats& stats = buffers.emplace_back();
    wire::FieldReader counters(field->bytes);
    while (const auto counter = counters.Next())
      for (const StatField& known : kStatFields)
        if (known.proto_field == counter->number && counter->type == wire::Type::kVarint)
          stats.*known.value = counter->value;
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
          std::ranges::find(kStatFields, counter->number, &StatField::proto_field) ==
              kStatFields.end())
        unknown[{buffer, counter->number}] = counter->value;
    ++buffer;
  });
  return unknown;
}

ServiceStats ReadServiceStats(Bytes trace_stats) {
  ServiceStats stats;
  wire::FieldReader fields(trace_stats);
  while (const auto field = fields.Next())
    for (const ServiceField& known : kServiceFields)
      if (known.proto_field == field->number && field->type == wire::Type::kVarint)
        stats.*known.value = field->value;
  return stats;
}

}  // namespace ringscope
