#ifndef RINGSCOPE_COMMANDS_COMPARE_DIFF_MINIMIZE_H_
#define RINGSCOPE_COMMANDS_COMPARE_DIFF_MINIMIZE_H_

#include <vector>

#include "commands/compare/diff_logs.h"

namespace ringscope {

/// Reads the log's one session again and writes a 1-minimal stream of operations that shows the
/// same first divergence to args.minimize. Without a difference nothing is written.
/// @param diffs what the comparison found
Status MinimizeLog(const DiffArgs& args, const std::vector<SessionDiff>& diffs, Context& context);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_COMPARE_DIFF_MINIMIZE_H_
