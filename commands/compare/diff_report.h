#ifndef RINGSCOPE_COMMANDS_COMPARE_DIFF_REPORT_H_
#define RINGSCOPE_COMMANDS_COMPARE_DIFF_REPORT_H_

#include <vector>

#include "commands/compare/diff_logs.h"
#include "commands/compare/diff_words.h"
#include "commands/many_logs/each_log.h"
#include "commands/many_logs/shards.h"
#include "commands/replays/trace_check.h"
#include "commands/view/report.h"

namespace ringscope {

/// The comparisons of the sessions of one input: of each what was compared, the first divergence
/// with both buffers around it, the packets that differ, the counters side by side.
Status ReportDiffs(const DiffArgs& args, const std::vector<SessionDiff>& diffs, Console& console);
/// Those of many logs: a line for each, the totals, and then the sessions that differ.
/// @return how the run over these logs ends
Result<ExitCode> ReportDiffs(const DiffArgs& args, const std::vector<LogResult<SessionDiff>>& logs,
                             const ShardsHeld& shards, Console& console);

// Parts that the comparison of results has, too.

/// The counters of a buffer: for people those that differ, or all, and since when.
void ReportCounters(Report& report, const BufferDiff& buffer, bool all, FirstTime first_time_ns);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_COMPARE_DIFF_REPORT_H_
