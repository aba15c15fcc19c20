#ifndef RINGSCOPE_COMMANDS_REPLAY_REPLAY_H_
#define RINGSCOPE_COMMANDS_REPLAY_REPLAY_H_

#include <optional>
#include <string>
#include <vector>

#include "commands/common/replay_run.h"
#include "commands/shell/command.h"

namespace ringscope {

struct ReplayArgs {
  std::vector<std::string> logs;
  std::string output;  // .pftrace; empty: none
  std::string events;  // .events.jsonl, "-": standard output; empty: none
  std::string lost;    // .pftrace of the packets that were lost; empty: none
  ReplayChoices choices;
  bool stats = false;
  std::string format = "text";
  std::optional<uint64_t> session;
};

/// Replays logs, writes traces and events, and sums up what was written, read and lost.
Result<ExitCode> RunReplay(const ReplayArgs& args, Context& context);
Command ReplayCommand();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAY_REPLAY_H_
