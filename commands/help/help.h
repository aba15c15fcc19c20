#ifndef RINGSCOPE_COMMANDS_HELP_HELP_H_
#define RINGSCOPE_COMMANDS_HELP_HELP_H_

#include <string>

#include "commands/shell/command.h"

namespace ringscope {

struct HelpArgs {
  std::string command;  // empty: the overview
};

/// Prints the overview, or the help of one command.
Result<ExitCode> RunHelp(const HelpArgs& args, Context& context);
Command HelpCommand();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_HELP_HELP_H_
