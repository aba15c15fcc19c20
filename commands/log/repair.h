#ifndef RINGSCOPE_COMMANDS_LOG_REPAIR_H_
#define RINGSCOPE_COMMANDS_LOG_REPAIR_H_

#include <string>

#include "commands/shell/command.h"

namespace ringscope {

struct RepairArgs {
  std::string log;
  std::string output;
};

/// Writes a clean copy of what is readable and verifies it; kNotice if anything was lost.
Result<ExitCode> RunRepair(const RepairArgs& args, Context& context);
Command RepairCommand();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_LOG_REPAIR_H_
