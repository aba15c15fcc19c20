#ifndef RINGSCOPE_COMMANDS_SWEEP_SWEEP_H_
#define RINGSCOPE_COMMANDS_SWEEP_SWEEP_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "commands/common/log_list.h"
#include "commands/shell/command.h"
#include "commands/sweep/sweep_report.h"

namespace ringscope {

struct SweepArgs {
  LogChoices logs;
  SweepChoices choices;
  std::vector<SweepTarget> targets;
  bool sequences = false;
  std::string plot;  // .svg or .html; empty: none
  std::string format = "text";
  std::optional<uint64_t> session;
};

/// Replays logs in many configurations and compares what they keep. kNotice if a target is not met.
Result<ExitCode> RunSweepCommand(const SweepArgs& args, Context& context);
Command SweepCommand();

/// Sweeps the sessions of logs, one after the other.
/// @param visit gets each session's report
Result<ExitCode> SweepSessions(const SweepArgs& args, const std::vector<std::string>& logs,
                               Context& context,
                               const std::function<Status(const SweepReport&)>& visit);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SWEEP_SWEEP_H_
