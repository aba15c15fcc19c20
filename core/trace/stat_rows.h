#ifndef RINGSCOPE_CORE_TRACE_STAT_ROWS_H_
#define RINGSCOPE_CORE_TRACE_STAT_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/perfetto/trace_stats.h"
#include "core/trace/content_stats.h"
#include "core/trace/ftrace_counters.h"

namespace ringscope {

struct TraceBuffer;
struct TraceFacts;

/// A row of trace processor's stats table.
struct StatRow {
  std::string name;               // "traced_buf_chunks_written"
  std::optional<uint32_t> index;  // of the buffer in the trace config, or of the CPU; absent: none
  StatSeverity severity = StatSeverity::kInfo;
  uint64_t value = 0;
  const char* meaning = "";    // of a loss, in a line
  bool loses_nothing = false;  // as ContentStatRow::loses_nothing
  uint32_t machine = 0;        // whose packets it counts, by machine_id; 0: the service's own

  bool is_data_loss() const { return severity == StatSeverity::kDataLoss; }
};
using StatRows = std::vector<StatRow>;

/// Trace processor's rows of a trace, as far as its service, buffers, clocks, order and ftrace
/// determine them; zeros too. Rows of what did not happen in the file are absent.
StatRows StatRowsOf(const TraceFacts& facts);

/// The counters of a buffer, as far as they are there, and the losses that the packets of its
/// sequences show.
/// @param index in the trace config @param is_streamed of a session that was written into a file
void AddBufferRows(StatRows& rows, uint32_t index, const TraceBuffer& buffer, bool is_streamed);
/// The number of configs in which such a buffer discards.
void AddDiscardRow(StatRows& rows, uint32_t index, uint64_t configs);
/// The counters of the service.
/// @param final_flushes_succeeded, final_flushes_failed as all statistics of the trace count them
void AddServiceRows(StatRows& rows, const ServiceStats& service, uint64_t final_flushes_succeeded,
                    uint64_t final_flushes_failed);
void AddFtraceRows(StatRows& rows, const FtraceCounters& ftrace);

/// "Perfetto v58.2-5f4e1d2 (5f4e1d2)" -> 58; nullopt if the text has none.
std::optional<uint64_t> ServiceRelease(std::string_view version);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TRACE_STAT_ROWS_H_
