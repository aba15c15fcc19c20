#ifndef RINGSCOPE_COMMANDS_COMPARE_DIFF_H_
#define RINGSCOPE_COMMANDS_COMPARE_DIFF_H_

#include <cstdint>
#include <optional>
#include <string>

#include "commands/many_logs/log_list.h"
#include "commands/replays/replay_run.h"
#include "commands/shell/command.h"
#include "core/compare/log_diff.h"
#include "formats/ops/test_case.h"

namespace ringscope {

/// What is compared, and what is shown of it.
struct DiffArgs {
  LogChoices logs;            // or two result files
  Both<ReplayChoices> sides;  // the config of a log that lacks it is in side A's, for both
  size_t limit = 20;          // packets listed of each kind
  bool all = false;           // list counters that agree, too
  bool ignore_identity = false;
  bool force = false;
  std::string minimize;
  std::optional<CaseStyle> style;  // of the test case; absent: A's engine decides
  std::string format = "text";
  std::optional<uint64_t> session;
  std::optional<uint64_t> clone;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_COMPARE_DIFF_H_
