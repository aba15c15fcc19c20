#include "core/perfetto/trace_stats.h"

#include "core/perfetto/fields.h"

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
