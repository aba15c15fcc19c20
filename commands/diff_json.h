#ifndef RINGSCOPE_COMMANDS_DIFF_JSON_H_
#define RINGSCOPE_COMMANDS_DIFF_JSON_H_

#include <vector>

#include "commands/diff_logs.h"
#include "commands/json_output.h"

namespace ringscope {

/// The whole document of a comparison of replays, "ringscope.diff/1".
Json LogDiffsJson(const std::vector<SessionDiff>& diffs, const DiffArgs& args);

// Parts that both kinds of comparison have.

/// {"only_in_a": 0, ...}
Json CountsJson(const DiffCounts& counts);
/// All twenty: {"bytes_written": {"a": 1, "b": 2}, ...}
Json CountersJson(const BufferStats& a, const BufferStats& b);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_DIFF_JSON_H_
