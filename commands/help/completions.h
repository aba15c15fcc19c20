#ifndef RINGSCOPE_COMMANDS_HELP_COMPLETIONS_H_
#define RINGSCOPE_COMMANDS_HELP_COMPLETIONS_H_

#include <string>

#include "commands/shell/command.h"

namespace ringscope {

struct CompletionsArgs {
  std::string shell;
};

/// Prints a completion script for a shell.
Result<ExitCode> RunCompletions(const CompletionsArgs& args, Context& context);
Command CompletionsCommand();
/// Hidden: what the scripts call while a command line is typed.
Command CompleteCommand();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_HELP_COMPLETIONS_H_
