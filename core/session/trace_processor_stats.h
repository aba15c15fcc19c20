#ifndef RINGSCOPE_CORE_SESSION_TRACE_PROCESSOR_STATS_H_
#define RINGSCOPE_CORE_SESSION_TRACE_PROCESSOR_STATS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/session/replay_outcome.h"

namespace ringscope {

/// A row of the stats table that trace processor would derive from a replay's trace.
struct StatRow {
  std::string name;               // "traced_buf_chunks_written"
  std::optional<uint32_t> index;  // of the buffer in the trace config; absent: of the service
  bool is_data_loss = false;      // trace processor's severity: data_loss, else info
  uint64_t value = 0;
  const char* meaning = "";  // of a loss, in a line
};

/// All rows that a log determines, zeros too: the buffers' by index, then the service's.
std::vector<StatRow> TraceProcessorStats(const ReplayOutcome& outcome);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_TRACE_PROCESSOR_STATS_H_
