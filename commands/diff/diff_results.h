#ifndef RINGSCOPE_COMMANDS_DIFF_DIFF_RESULTS_H_
#define RINGSCOPE_COMMANDS_DIFF_DIFF_RESULTS_H_

#include "commands/diff/diff.h"
#include "formats/inputs/input_kind.h"

namespace ringscope {

/// Compares two result files, both of this kind: events or traces.
Result<ExitCode> DiffResults(const DiffArgs& args, InputKind kind, Context& context);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_DIFF_DIFF_RESULTS_H_
