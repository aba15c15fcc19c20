#ifndef RINGSCOPE_COMMANDS_COMPARE_DIFF_RESULTS_H_
#define RINGSCOPE_COMMANDS_COMPARE_DIFF_RESULTS_H_

#include <string>
#include <vector>

#include "commands/compare/diff.h"
#include "formats/inputs/input_kind.h"

namespace ringscope {

/// Compares two result files, both of this kind: events or traces.
Result<ExitCode> DiffResults(const DiffArgs& args, InputKind kind, Context& context);

/// Compares the replay of a log, with the choices for side A, with the trace that came out of the
/// recorded session.
Result<ExitCode> DiffLogWithTrace(const DiffArgs& args, const std::vector<std::string>& logs,
                                  const std::string& trace, Context& context);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_COMPARE_DIFF_RESULTS_H_
