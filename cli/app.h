#ifndef RINGSCOPE_CLI_APP_H_
#define RINGSCOPE_CLI_APP_H_

#include <span>
#include <string>

#include "commands/shell/console.h"

namespace ringscope {

/// Runs the tool: everything between a command line and an exit status, in memory.
/// @param args the command line without the program's name
/// @return the exit status, see ExitCode
int RunApp(std::span<const std::string> args, Streams& streams);

}  // namespace ringscope

#endif  // RINGSCOPE_CLI_APP_H_
