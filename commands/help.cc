#include "commands/help.h"

#include "commands/help_text.h"
#include "commands/options.h"
#include "commands/registry.h"

namespace ringscope {
namespace {

void SetUp(CLI::App& app, HelpArgs& args) {
  AddText(app, "COMMAND", args.command, "COMMAND",
          "The command to explain; without one, list them all");
}

}  // namespace

Result<ExitCode> RunHelp(const HelpArgs& args, Context& context) {
  Console& console = context.console;
  if (args.command.empty()) {
    console.Print(OverviewHelp(console));
    return ExitCode::kClean;
  }
  const Command* const command = FindCommand(args.command);
  if (command == nullptr) return tl::unexpected(UnknownCommand(args.command));
  console.Print(CommandHelp(*command, console));
  return ExitCode::kClean;
}

Command HelpCommand() {
  return {"help",
          "Help",
          "Explain a command, or list them all",
          "Prints the commands, or the arguments, options and examples of one.",
          {{"ringscope help replay", "How does replay work?"}},
          Bind(SetUp, RunHelp)};
}

}  // namespace ringscope
