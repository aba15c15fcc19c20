#include "commands/shell/registry.h"

#include <CLI/CLI.hpp>

#include "commands/shell/commands.h"
#include "commands/shell/embedded_files.h"
#include "commands/shell/help.h"
#include "commands/shell/options.h"
#include "core/engine/catalogue.h"
#include "core/findings/finding.h"
#include "core/perfetto/trace_stats.h"

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
  AddParsed(app, "--color", args.console.color, ParseColor, ValueType({"auto", "always", "never"}),
            "Whether to use colours (default: auto, on a terminal unless NO_COLOR is set)");
  AddFlag(app, "-q,--quiet", args.console.quiet,
          "Print no progress and no messages; warnings and errors are still printed");
}

template <typename List, typename Member>
std::vector<std::string> NamesOf(const List& list, Member name) {
  std::vector<std::string> names;
  for (const auto& element : list) names.emplace_back(element.*name);
  return names;
}

/// The fixed values of an option or argument: choices, engines, commands. Empty: there are none.
std::vector<std::string> FixedValues(const OptionInfo& option) {
  if (option.type == "TOPIC") return HelpTopics();
  if (option.type == "COUNTER") return NamesOf(kStatFields, &StatField::name);
  if (option.type == "RULE") return NamesOf(DoctorRules(), &Rule::id);
  if (!option.type.ends_with("ENGINE")) return option.choices;
  std::vector<std::string> names = NamesOf(Engines(), &EngineInfo::name);
  names.insert(names.begin(), kDefaultEngine);
  return names;
}

void SetUpCompletions(CLI::App& app, std::string& shell) {
  InGroup(app, kInputGroup);
  AddChoice(app, "SHELL", shell, {"bash", "zsh", "fish"}, "The shell to print the script for",
            Need::kRequired);
}

Result<ExitCode> RunCompletions(const std::string& shell, Context& context) {
  context.console.Print(shell == "bash"  ? BashScript()
                        : shell == "zsh" ? ZshScript()
                                         : FishScript());
  return ExitCode::kClean;
}

void SetUpComplete(CLI::App& app, std::vector<std::string>& words) {
  AddTexts(app, "WORD", words, "WORD", "The command line so far, after --");
}

Result<ExitCode> RunComplete(const std::vector<std::string>& words, Context& context) {
  for (const std::string& line : Complete(words)) context.console.Print(line + "\n");
  return ExitCode::kClean;
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
#ifndef RS_NO_RECORD
    add("Logs", {RecordCommand()});
#endif
    add("Logs", {ImportCommand(), InfoCommand(), DumpCommand(), VerifyCommand()});
    add("Buffer authors",
        {TryCommand(), EnginesCommand(), PluginCommand(), FuzzCommand(), ProtovmCommand()});
    add("Help", {HelpCommand(), CompletionsCommand()});
    return all;
  }();
  return commands;
}

const Command* FindCommand(std::string_view name) {
  static const Command complete = CompleteCommand();  // which people do not type
  for (const Command& command : Commands())
    if (command.name == name) return &command;
  return name == complete.name ? &complete : nullptr;
}

std::vector<std::string> CommandNames() { return NamesOf(Commands(), &Command::name); }

Error UnknownCommand(std::string_view name) {
  return {ErrorCode::kUsage,
          fmt::format("there is no command and no file '{}'", name),
          {},
          DidYouMean(name, CommandNames(), "'ringscope help' lists the commands")};
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

std::vector<std::string> Complete(std::span<const std::string> words) {
  std::vector<std::string> lines;
  if (words.empty()) return lines;
  const std::string& last = words.back();
  const std::string before = words.size() > 1 ? words[words.size() - 2] : "";
  const auto add = [&](const std::string& word, const std::string& description = "") {
    if (!word.empty() && word.starts_with(last)) lines.push_back(word + description);
  };
  const Command* command = nullptr;
  for (const std::string& word : words.first(words.size() - 1))
    if (command == nullptr) command = FindCommand(word);
  const bool is_name = last.starts_with('-');
  bool is_asked = false;  // for an option's value
  bool files = false;
  for (const OptionInfo& option :
       command != nullptr ? OptionsOf(*command) : OptionsBeforeCommand()) {
    is_asked = before.starts_with('-') && option.has_value() &&
               (before == option.long_name || before == option.short_name);
    if (is_asked) lines.clear();
    if (is_asked || (option.is_positional() && !is_name))
      for (const std::string& value : FixedValues(option)) add(value);
    files = !is_name && lines.empty();
    if (is_asked) break;
    if (!is_name) continue;
    add(option.long_name);
    add(option.short_name);
  }
  if (command == nullptr && !is_name && !is_asked) {
    for (const Command& known : Commands()) add(known.name, fmt::format("\t{}", known.summary));
    files = true;  // ringscope FILE
  }
  if (files) lines.emplace_back(":files");
  return lines;
}

Command CompletionsCommand() {
  return {"completions",
          "Print a completion script for a shell",
          "Prints a script with which bash, zsh or fish completes ringscope's commands, options, "
          "values and files. Packages install these scripts; print one if you have only the "
          "binary.",
          {{"source <(ringscope completions bash)", "Complete in this bash"},
           {"ringscope completions fish > ~/.config/fish/completions/ringscope.fish",
            "Complete in fish from now on"}},
          Bind(SetUpCompletions, RunCompletions),
          {.notice = nullptr}};
}

Command CompleteCommand() {
  return {"__complete",
          "Print the words that can follow on a command line",
          "Completes the last WORD. Prints a line for each word that can replace it: the word, and "
          "after a tab its description. A line ':files' means names of files.",
          {},
          Bind(SetUpComplete, RunComplete),
          {.notice = nullptr}};
}

}  // namespace ringscope
