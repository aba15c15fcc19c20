#ifndef RINGSCOPE_CORE_SESSION_TRACE_PROCESSOR_STATS_H_
#define RINGSCOPE_CORE_SESSION_TRACE_PROCESSOR_STATS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/enum_names.h"
#include "core/session/replay_outcome.h"

namespace ringscope {

/// How trace processor judges a row.
enum class StatSeverity : uint8_t { kInfo, kDataLoss, kError };
template <>
inline constexpr std::array kEnumNames<StatSeverity> = {"info", "data_loss", "error"};

/// A row of the stats table that trace processor would derive from a replay's trace.
struct StatRow {
  std::string name;               // "traced_buf_chunks_written"
  std::optional<uint32_t> index;  // of the buffer in the trace config, or of the CPU; absent: none
  StatSeverity severity = StatSeverity::kInfo;
  uint64_t value = 0;
  const char* meaning = "";  // of a loss, in a line

  bool is_data_loss() const { return severity == StatSeverity::kDataLoss; }
};

/// All rows that a log determines, zeros too: the buffers' by index, then the service's, then those
/// of the kernel's ftrace that the packets have.
std::vector<StatRow> TraceProcessorStats(const ReplayOutcome& outcome);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_TRACE_PROCESSOR_STATS_H_
