#ifndef RINGSCOPE_COMMANDS_COMPLETIONS_H_
#define RINGSCOPE_COMMANDS_COMPLETIONS_H_

#include <string>

#include "commands/command.h"

namespace ringscope {

struct CompletionsArgs {
  std::string shell;
};

/// Prints a completion script for a shell.
Result<ExitCode> RunCompletions(const CompletionsArgs& args, Context& context);
Command CompletionsCommand();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_COMPLETIONS_H_
