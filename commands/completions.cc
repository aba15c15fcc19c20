#include "commands/completions.h"

#include "commands/completion_scripts.h"
#include "commands/options.h"

namespace ringscope {
namespace {

void SetUp(CLI::App& app, CompletionsArgs& args) {
  AddChoice(app, "SHELL", args.shell, {"bash", "zsh", "fish"}, "The shell to write for",
            Need::kRequired);
}

}  // namespace

Result<ExitCode> RunCompletions(const CompletionsArgs& args, Context& context) {
  if (args.shell == "bash") context.console.Print(BashCompletions());
  if (args.shell == "zsh") context.console.Print(ZshCompletions());
  if (args.shell == "fish") context.console.Print(FishCompletions());
  return ExitCode::kClean;
}

Command CompletionsCommand() {
  return {"completions",
          "Help",
          "Print a completion script for a shell",
          "Prints the script that completes ringscope's commands, options and values in bash, zsh "
          "or fish. An installation has it in place; this is for a binary on its own.",
          {{"source <(ringscope completions bash)", "Complete in this shell"},
           {"ringscope completions fish > ~/.config/fish/completions/ringscope.fish",
            "Complete in fish from now on"}},
          Bind(SetUp, RunCompletions)};
}

}  // namespace ringscope
