#ifndef RINGSCOPE_CORE_PERFETTO_TRACE_STATS_H_
#define RINGSCOPE_CORE_PERFETTO_TRACE_STATS_H_

#include <cstddef>
#include <vector>

#include "core/base/wire.h"
#include "core/perfetto/stats.h"

namespace ringscope {

inline constexpr size_t kMaxStatsBuffers = 1024;  // more are no trace's

/// The counters in a TraceStats message, by the buffers' index; at most kMaxStatsBuffers. Fields
/// before malformed bytes still count.
std::vector<BufferStats> ReadTraceStats(Bytes trace_stats);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_TRACE_STATS_H_
