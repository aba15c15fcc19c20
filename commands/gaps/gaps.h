#ifndef RINGSCOPE_COMMANDS_GAPS_GAPS_H_
#define RINGSCOPE_COMMANDS_GAPS_GAPS_H_

#include <optional>
#include <string>
#include <vector>

#include "commands/common/log_list.h"
#include "commands/common/replay_run.h"
#include "commands/shell/command.h"
#include "core/gaps/gap_filter.h"

namespace ringscope {

struct GapsArgs {
  LogChoices logs;
  ReplayChoices choices;
  GapFilter filter;
  bool summary = false;           // only the totals
  bool packets = false;           // each lost packet
  std::optional<uint64_t> limit;  // gaps to list, the largest; 0: all
  uint64_t stale_ns = 5'000'000'000;
  std::string format = "text";
  std::optional<uint64_t> session;
};

/// Replays logs and reports what was lost. kNotice if anything was that the filter selects.
Result<ExitCode> RunGaps(const GapsArgs& args, Context& context);
Command GapsCommand();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GAPS_GAPS_H_
