#ifndef RINGSCOPE_COMMANDS_LOG_INFO_H_
#define RINGSCOPE_COMMANDS_LOG_INFO_H_

#include <optional>
#include <string>

#include "commands/shell/command.h"

namespace ringscope {

struct InfoArgs {
  std::string log;
  std::string format = "text";
  std::optional<uint64_t> session;
};

/// Says what a log holds: sessions, buffers, producers, sequences, integrity.
Result<ExitCode> RunInfo(const InfoArgs& args, Context& context);
Command InfoCommand();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_LOG_INFO_H_
