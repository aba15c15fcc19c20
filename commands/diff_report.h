#ifndef RINGSCOPE_COMMANDS_DIFF_REPORT_H_
#define RINGSCOPE_COMMANDS_DIFF_REPORT_H_

#include <string>
#include <vector>

#include "commands/diff_logs.h"

namespace ringscope {

/// One session's comparison: what was compared, the first divergence with both buffers around it,
/// the packets that differ, the counters side by side.
void PrintSessionDiff(Console& console, const SessionDiff& diff, const DiffArgs& args);

/// A line for each log of a folder, and the totals.
/// @param others files that are no logs
void PrintFolderDiff(Console& console, const std::string& folder,
                     const std::vector<SessionDiff>& diffs, uint64_t others);

/// The 20 counters of a buffer that differ, or all, and since when.
void PrintCounters(Console& console, const BufferDiff& buffer, bool all,
                   std::optional<uint64_t> first_time_ns);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_DIFF_REPORT_H_
