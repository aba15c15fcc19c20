#include "commands/registry.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "commands/advise.h"
#include "commands/completions.h"
#include "commands/diff.h"
#include "commands/dump.h"
#include "commands/engines.h"
#include "commands/export.h"
#include "commands/gaps.h"
#include "commands/graph.h"
#include "commands/help.h"
#include "commands/import.h"
#include "commands/info.h"
#include "commands/merge.h"
#include "commands/options.h"
#include "commands/record.h"
#include "commands/repair.h"
#include "commands/replay.h"
#include "commands/stats.h"
#include "commands/suggest.h"
#include "commands/sweep.h"
#include "commands/timeline.h"
#include "commands/verify.h"

namespace ringscope {
namespace {

Result<ColorMode> ParseColor(std::string_view when) {
  if (when == "auto") return ColorMode::kAuto;
  if (when == "always") return ColorMode::kAlways;
  if (when == "never") return ColorMode::kNever;
  return Fail(ErrorCode::kUsage, fmt::format("'{}' is none of auto, always and never", when));
}

}  // namespace

std::span<const Command> Commands() {
  static const std::vector<Command> commands = {
      ReplayCommand(), SweepCommand(),   MergeCommand(),    StatsCommand(),       GapsCommand(),
      AdviseCommand(), GraphCommand(),   TimelineCommand(), DiffCommand(),        ExportCommand(),
      RecordCommand(), EnginesCommand(), ImportCommand(),   InfoCommand(),        DumpCommand(),
      VerifyCommand(), RepairCommand(),  HelpCommand(),     CompletionsCommand(),
  };
  return commands;
}

const Command* FindCommand(std::string_view name) {
  const std::span<const Command> commands = Commands();
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const Command& command) { return command.name == name; });
  return found == commands.end() ? nullptr : &*found;
}

std::vector<std::string> CommandNames() {
  std::vector<std::string> names;
  for (const Command& command : Commands()) names.emplace_back(command.name);
  return names;
}

Error UnknownCommand(std::string_view name) {
  return {ErrorCode::kUsage,
          fmt::format("there is no command '{}'", name),
          {},
          DidYouMean(name, CommandNames(), "'ringscope help' lists the commands")};
}

void AddGlobalOptions(CLI::App& app, GlobalArgs& args) {
  app.set_help_flag("-h,--help", "Print this help")->group("Global options");
  AddParsed(app, "--color", args.console.color, ParseColor, "auto|always|never",
            "Colours in what is printed (default: auto, on a terminal unless NO_COLOR is set)");
  app.get_option("--color")->group("Global options");
  app.add_flag("-q,--quiet", args.console.quiet,
               "No progress and no messages; warnings and errors stay")
      ->group("Global options");
}

BoundCommand BindCommand(const Command& command, GlobalArgs& globals) {
  BoundCommand bound;
  bound.app = std::make_unique<CLI::App>(command.description, command.name);
  bound.run = command.bind(*bound.app);
  AddGlobalOptions(*bound.app, globals);
  return bound;
}

}  // namespace ringscope
