#include <string>

#include "commands/shell/commands.h"
#include "commands/shell/help_text.h"
#include "commands/shell/options.h"
#include "commands/shell/registry.h"

namespace ringscope {
namespace {

struct HelpArgs {
  std::string command;  // empty: the overview
};

void SetUp(CLI::App& app, HelpArgs& args) {
  InGroup(app, kInputGroup);
  AddText(app, "COMMAND", args.command, "COMMAND",
          "The command to explain (default: list all commands)");
}

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

}  // namespace

Command HelpCommand() {
  return {"help",
          "Help",
          "Explain a command, or list all commands",
          "Prints a command's arguments, options, exit status and examples; without COMMAND, the "
          "list of all commands. 'ringscope COMMAND --help' prints the same.",
          {{"ringscope help replay", "How does replay work?"}},
          Bind(SetUp, RunHelp),
          {.notice = nullptr}};
}

}  // namespace ringscope
