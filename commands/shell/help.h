#ifndef RINGSCOPE_COMMANDS_SHELL_HELP_H_
#define RINGSCOPE_COMMANDS_SHELL_HELP_H_

#include <string>

#include "commands/shell/command.h"

namespace ringscope {

/// The whole help of a command.
std::string CommandHelp(const Command& command, const Console& console);
/// What `ringscope help` prints: the commands by group.
std::string OverviewHelp(const Console& console);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_HELP_H_
