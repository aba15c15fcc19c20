#include "commands/shell/registry.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "commands/shell/commands.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"

namespace ringscope {
namespace {

Result<ColorMode> ParseColor(std::string_view when) {
  if (when == "auto") return ColorMode::kAuto;
  if (when == "always") return ColorMode::kAlways;
  if (when == "never") return ColorMode::kNever;
  return Fail(ErrorCode::kUsage, fmt::format("'{}' is not a mode of colours", when), {},
              "choose auto, always or never");
}

/// --color and --quiet, which may precede a command or follow it.
void AddGlobalOptions(CLI::App& app, GlobalArgs& args) {
  InGroup(app, kGlobalGroup);
  AddParsed(app, "--color", args.console.color, ParseColor, "auto|always|never",
            "Whether to use colours (default: auto, on a terminal unless NO_COLOR is set)");
  AddFlag(app, "-q,--quiet", args.console.quiet,
          "Print no progress and no messages; warnings and errors are still printed");
}

/// Commands and options of earlier versions.
constexpr struct {
  std::string_view name;
  const char* instead;
} kGone[] = {
    {"--each", "name several files: they are read one after the other"},
    {"--shard", "xargs, GNU parallel or Slurm run one file each: docs/batch.md"},
    {"smb", "'ringscope gaps' reports why a packet found no free chunk in shared memory"},
    {"bench", "measure whole replays: hyperfine 'ringscope replay -o /dev/null --engine NAME LOG'"},
    {"merge", "'--format jsonl' of many runs is joined by cat or sqlite3: docs/batch.md"},
    {"repair", "use 'ringscope verify LOG --repair OUT'"},
    {"demo-session",
     "testdata/captures has recorded sessions, and 'ringscope record' records others"},
    {"--scraping", "'record' always scrapes in the service's place"},
    {"--order", "'record' always has the service's order"},
    {"--fragments", "'dump --decode' shows the fragments of chunks, too"},
    {"--limit", "a screen is the default, --all has the rest"},
    {"--summary", "totals come first, --all has the rest"},
    {"--time", "times are those of the Perfetto UI; JSON has ns of CLOCK_BOOTTIME"},
    {"--fate", "'gaps --packets --format jsonl' has the fate and cause of each packet"},
    {"--cause", "'gaps --packets --format jsonl' has the fate and cause of each packet"},
    {"--descriptor", "fields that the built-in descriptors lack are shown by number"},
    {"--hex", "'dump --format ops' has the bytes of chunks as hex digits"},
    {"--progress", "'record' shows its progress on a terminal; SIGUSR1 asks for a summary"},
    {"--progress-every", "'record' shows its progress on a terminal; SIGUSR1 asks for a summary"},
    {"--split", "change target_buffer in the trace config, and name that with --config"},
    {"--lost", "'replay -o' with a --size that holds all has the lost packets, too"},
    {"--lost-limit", "'replay -o' with a --size that holds all has the lost packets, too"},
};

/// Commands that people do not type.
std::span<const Command> HiddenCommands() {
  static const std::vector<Command> commands = {CompleteCommand()};
  return commands;
}

}  // namespace

std::span<const Command> Commands() {
  static const std::vector<Command> commands = [] {
    std::vector<Command> all;
    const auto add = [&all](const char* group, std::vector<Command> of_group) {
      for (Command& command : of_group) {
        command.group = group;
        all.push_back(std::move(command));
      }
    };
    add("Explain", {DoctorCommand(), GapsCommand(), AdviseCommand(), ReportCommand()});
    add("Look", {GraphCommand(), TimelineCommand(), ExportCommand(), StatsCommand()});
    add("Try", {ReplayCommand(), SweepCommand(), DiffCommand()});
    add("Logs", {RecordCommand(), ImportCommand(), InfoCommand(), DumpCommand(), VerifyCommand()});
    add("Buffer authors",
        {TryCommand(), EnginesCommand(), PluginCommand(), FuzzCommand(), ProtovmCommand()});
    add("Help", {HelpCommand(), CompletionsCommand()});
    return all;
  }();
  return commands;
}

const Command* FindCommand(std::string_view name) {
  for (const std::span<const Command> commands : {Commands(), HiddenCommands()}) {
    for (const Command& command : commands)
      if (command.name == name) return &command;
  }
  return nullptr;
}

std::vector<std::string> CommandNames() {
  std::vector<std::string> names;
  for (const Command& command : Commands()) names.emplace_back(command.name);
  return names;
}

const char* InsteadOfGone(std::string_view name) {
  for (const auto& gone : kGone)
    if (gone.name == name) return gone.instead;
  return nullptr;
}

Error UnknownCommand(std::string_view name) {
  if (const char* const instead = InsteadOfGone(name))
    return {ErrorCode::kUsage, fmt::format("the command '{}' is gone", name), {}, instead};
  return {ErrorCode::kUsage,
          fmt::format("there is no command '{}'", name),
          {},
          DidYouMean(name, CommandNames(), "'ringscope help' lists the commands")};
}

std::vector<std::pair<int, const char*>> MeaningsOf(const Command& command) {
  const ExitMeanings& exits = command.exits;
  std::vector<std::pair<int, const char*>> meanings = {
      {0, exits.clean}, {1, exits.failed}, {2, exits.usage}};
  if (exits.notice != nullptr) meanings.emplace_back(3, exits.notice);
  return meanings;
}

void AddOptionsBeforeCommand(CLI::App& app, GlobalArgs& args) {
  app.set_help_flag();  // a plain flag here: it lists the commands
  InGroup(app, kGlobalGroup);
  AddFlag(app, "-h,--help", args.help, "List the commands; after a command: explain it");
  AddFlag(app, "-V,--version", args.version, "Print the version");
  AddGlobalOptions(app, args);
}

BoundCommand BindCommand(const Command& command, GlobalArgs& globals) {
  BoundCommand bound;
  bound.app = std::make_unique<CLI::App>(command.description, command.name);
  bound.run = command.bind(*bound.app);
  bound.app->set_help_flag("-h,--help", "Print a screen of help (-h), or all of it")
      ->group(kGlobalGroup);
  AddGlobalOptions(*bound.app, globals);
  return bound;
}

Result<ExitCode> RunNamed(const char* name, std::vector<std::string> words, Context& context) {
  GlobalArgs globals;
  const BoundCommand command = BindCommand(*FindCommand(name), globals);
  std::reverse(words.begin(), words.end());  // CLI11 takes them last one first
  command.app->parse(std::move(words));
  return command.run(context);
}

}  // namespace ringscope
