#ifndef RINGSCOPE_COMMANDS_ADVISE_ADVISE_H_
#define RINGSCOPE_COMMANDS_ADVISE_ADVISE_H_

#include <optional>
#include <string>

#include "commands/shell/command.h"

namespace ringscope {

struct AdviseArgs {
  std::string log;                  // or a Perfetto trace
  std::optional<uint64_t> keep_ns;  // absent: all of the log
  std::optional<uint64_t> memory;   // bytes, for all buffers; absent: four times today's
  std::string format = "text";
  std::optional<uint64_t> session;
};

/// Says what a session's config should be to lose less. kNotice if there is advice to follow.
Result<ExitCode> RunAdvise(const AdviseArgs& args, Context& context);
Command AdviseCommand();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_ADVISE_ADVISE_H_
