#include "commands/shell/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "commands/shell/commands.h"
#include "commands/shell/option_table.h"
#include "commands/shell/options.h"
#include "commands/shell/registry.h"
#include "commands/shell/text.h"

namespace ringscope {
namespace {

constexpr size_t kOptionColumn = 6;
constexpr size_t kStatusColumn = 5;

/// "  0  Done."
std::string StatusLine(int status, const char* meaning) {
  return fmt::format("  {}{}\n", status, Wrap(meaning, kStatusColumn).substr(3));
}

}  // namespace

std::string CommandHelp(const Command& command, const Console& console) {
  std::string text =
      fmt::format("Usage: {}\n\n{}\n", UsageLine(command), Wrap(command.description, 0));
  std::string group;
  for (const OptionInfo& option : OptionsOf(command)) {
    if (option.group != group) text += "\n" + console.Bold(option.group + ":") + "\n";
    group = option.group;
    text += fmt::format("  {}\n{}\n", console.Bold(option.Synopsis()),
                        Wrap(option.description, kOptionColumn));
  }
  text += "\n" + console.Bold("Exit status:") + "\n";
  for (const auto& [status, meaning] : MeaningsOf(command)) text += StatusLine(status, meaning);
  text += "\n" + console.Bold("Examples:") + "\n";
  for (const Example& example : command.examples)
    text += fmt::format("  {}\n{}\n", example.command, Wrap(example.what, kOptionColumn));
  return text;
}

std::string OverviewHelp(const Console& console) {
  std::string text =
      "Usage: ringscope FILE\n"
      "       ringscope COMMAND [OPTIONS] ...\n\n" +
      Wrap(
          "ringscope replays what producers committed to Perfetto's trace buffers through exact "
          "reimplementations of these buffers, and accounts for what was lost. With a FILE, a "
          "trace or a log, instead of a command, it reports in ten lines what is wrong with it.",
          0) +
      "\n";
  size_t width = 0;
  for (const Command& command : Commands())
    width = std::max(width, std::string_view(command.name).size());
  std::string_view group;
  for (const Command& command : Commands()) {
    if (command.group != group) text += fmt::format("\n{}:\n", console.Bold(command.group));
    group = command.group;
    text += fmt::format("  {:<{}}  {}\n", command.name, width, command.summary);
  }
  text += "\n" +
          Wrap(
              "'ringscope help COMMAND' explains a command; 'man ringscope' describes the tool. "
              "Exit status: 0 done, 1 failed, 2 usage error, 3 done, with a finding (a loss, a "
              "difference, damage that was skipped).",
              0) +
          "\n";
  return text;
}

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
