#ifndef RINGSCOPE_COMMANDS_DIFF_DIFF_MINIMIZE_H_
#define RINGSCOPE_COMMANDS_DIFF_DIFF_MINIMIZE_H_

#include <vector>

#include "commands/diff/diff_logs.h"

namespace ringscope {

/// Reads the log's one session again and writes a 1-minimal stream of operations that shows the
/// same first divergence to args.minimize. Without a difference nothing is written.
/// @param diffs what the comparison found
Status MinimizeLog(const DiffArgs& args, const std::vector<SessionDiff>& diffs, Context& context);

/// The sides' options as a command line has them: "--a v2@55 --b v2@58 --b-size 65536".
std::string SidesAsOptions(const Both<ReplayChoices>& sides);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_DIFF_DIFF_MINIMIZE_H_
