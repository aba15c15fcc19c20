#ifndef RINGSCOPE_COMMANDS_REPLAY_STATS_H_
#define RINGSCOPE_COMMANDS_REPLAY_STATS_H_

#include <optional>
#include <string>
#include <vector>

#include "commands/common/replay_run.h"
#include "commands/shell/command.h"

namespace ringscope {

struct StatsArgs {
  std::vector<std::string> logs;
  ReplayChoices choices;
  bool data_loss = false;  // only what is a loss, by trace processor's definitions
  std::string format = "text";
  std::optional<uint64_t> session;
};

/// Replays logs and prints the counters. With `data_loss`, kNotice if there is any.
Result<ExitCode> RunStats(const StatsArgs& args, Context& context);
Command StatsCommand();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAY_STATS_H_
