#ifndef RINGSCOPE_COMMANDS_DIFF_DIFF_REPORT_H_
#define RINGSCOPE_COMMANDS_DIFF_DIFF_REPORT_H_

#include <vector>

#include "commands/common/trace_check.h"
#include "commands/diff/diff_logs.h"
#include "commands/diff/diff_words.h"
#include "commands/many_logs/each_log.h"
#include "commands/report/report.h"

namespace ringscope {

/// The comparisons of all sessions. Of one input: of each what was compared, the first divergence
/// with both buffers around it, the packets that differ, the counters side by side. Of many logs: a
/// line for each, the totals, and then the sessions that differ.
/// @param diffs of each log, by session
/// @param logs how it went with each of many logs; nullptr: there is one input
Status ReportDiffs(const DiffArgs& args, const std::vector<std::vector<SessionDiff>>& diffs,
                   const std::vector<LogStatus>* logs, Console& console);

// Parts that the comparison of results has, too.

/// The counters of a buffer: for people those that differ, or all, and since when.
void ReportCounters(Report& report, const BufferDiff& buffer, bool all, FirstTime first_time_ns);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_DIFF_DIFF_REPORT_H_
