#ifndef RINGSCOPE_CORE_SESSION_TRACE_PROCESSOR_STATS_H_
#define RINGSCOPE_CORE_SESSION_TRACE_PROCESSOR_STATS_H_

#include "core/session/replay_outcome.h"
#include "core/trace/stat_rows.h"

namespace ringscope {

/// All rows that trace processor would derive from a replay's trace, as far as a log determines
/// them, zeros too: the buffers' by index, then the service's, then those of the kernel's ftrace
/// that the packets have.
StatRows TraceProcessorStats(const ReplayOutcome& outcome);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_TRACE_PROCESSOR_STATS_H_
