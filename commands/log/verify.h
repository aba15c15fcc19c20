#ifndef RINGSCOPE_COMMANDS_LOG_VERIFY_H_
#define RINGSCOPE_COMMANDS_LOG_VERIFY_H_

#include <string>
#include <vector>

#include "commands/shell/command.h"

namespace ringscope {

struct VerifyArgs {
  std::vector<std::string> logs;
  std::string format = "text";
};

/// Checks logs down to each record and lists damage; kNotice if there is any.
Result<ExitCode> RunVerify(const VerifyArgs& args, Context& context);
Command VerifyCommand();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_LOG_VERIFY_H_
