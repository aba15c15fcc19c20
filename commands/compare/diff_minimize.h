#ifndef RINGSCOPE_COMMANDS_COMPARE_DIFF_MINIMIZE_H_
#define RINGSCOPE_COMMANDS_COMPARE_DIFF_MINIMIZE_H_

#include <vector>

#include "commands/compare/diff.h"

namespace ringscope {

/// Reads the log's one session again and writes the fewest and smallest operations that show the
/// same first difference to args.minimize. Without a difference nothing is written.
/// @param diffs the result of the comparison
Status MinimizeLog(const DiffArgs& args, const std::vector<SessionDiff>& diffs, Context& context);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_COMPARE_DIFF_MINIMIZE_H_
