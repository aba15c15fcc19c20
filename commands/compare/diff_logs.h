#ifndef RINGSCOPE_COMMANDS_COMPARE_DIFF_LOGS_H_
#define RINGSCOPE_COMMANDS_COMPARE_DIFF_LOGS_H_

#include <string>

#include "commands/compare/diff.h"
#include "core/compare/log_differ.h"

namespace ringscope {

/// The comparison of one session.
struct SessionDiff {
  std::string path;
  uint64_t session = 0;            // number in the input, from 1
  std::optional<CloneView> clone;  // that both sides show; absent: the session itself
  LogDiff result;
};

/// Compares two replays of each session of a log, or of each log of a folder.
Result<ExitCode> DiffLogs(const DiffArgs& args, Context& context);

/// What the options of both sides have of buffers that the log may lack.
Result<UnrecordedBuffers> UnrecordedOf(Context& context, const DiffArgs& args);

/// The options of both sides, without callbacks.
/// @param clone that both sides show; absent: the session itself
DiffOptions ToDiffOptions(const DiffArgs& args, const std::optional<CloneView>& clone);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_COMPARE_DIFF_LOGS_H_
