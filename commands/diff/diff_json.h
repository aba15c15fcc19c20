#ifndef RINGSCOPE_COMMANDS_DIFF_DIFF_JSON_H_
#define RINGSCOPE_COMMANDS_DIFF_DIFF_JSON_H_

#include <vector>

#include "commands/common/each_log.h"
#include "commands/diff/diff_logs.h"
#include "commands/report/json.h"

namespace ringscope {

/// The whole document of a comparison of replays, "ringscope.diff/1".
/// @param logs how it went with each of many logs; nullptr: there is one input
Json LogDiffsJson(const std::vector<std::vector<SessionDiff>>& diffs,
                  const std::vector<LogStatus>* logs);

// Parts that both kinds of comparison have.

/// {"only_in_a": 0, ...}
Json CountsJson(const DiffCounts& counts);
/// All twenty: {"bytes_written": {"a": 1, "b": 2}, ...}
Json CountersJson(const BufferStats& a, const BufferStats& b);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_DIFF_DIFF_JSON_H_
