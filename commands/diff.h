#ifndef RINGSCOPE_COMMANDS_DIFF_H_
#define RINGSCOPE_COMMANDS_DIFF_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/command.h"
#include "commands/replay_run.h"
#include "core/diff_result.h"

namespace ringscope {

struct DiffArgs {
  std::vector<std::string> inputs;  // a log or folder; or two result files
  Both<ReplayChoices> sides;
  size_t limit = 20;  // packets listed of each kind
  bool all = false;   // list counters that agree, too
  std::string minimize;
  std::string format = "table";
  std::optional<uint64_t> session;
};

Result<ExitCode> RunDiff(const DiffArgs& args, Context& context);
Command DiffCommand();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_DIFF_H_
