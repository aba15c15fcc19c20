#include "commands/shell/completion.h"

#include <string>
#include <string_view>

#include "commands/shell/commands.h"
#include "commands/shell/embedded_file.h"
#include "commands/shell/help.h"
#include "commands/shell/options.h"
#include "commands/shell/registry.h"
#include "core/engine/catalogue.h"

// The scripts hand the words of the command line to 'ringscope __complete' and offer the words that
// it prints. Bash breaks words at '=', ':' and '@', too, and replaces only what follows the last of
// them: its script reads the line itself, and removes from each word what bash keeps.
RS_EMBED_FILE(BashScript, RS_COMPLETIONS "/ringscope.bash")
RS_EMBED_FILE(ZshScript, RS_COMPLETIONS "/ringscope.zsh")
RS_EMBED_FILE(FishScript, RS_COMPLETIONS "/ringscope.fish")

namespace ringscope {
namespace {

/// The fixed values of an option or argument: choices, engines, commands. Empty: there are none.
std::vector<std::string> FixedValues(const OptionInfo& option) {
  if (option.type == "COMMAND") return CommandNames();
  if (!option.type.ends_with("ENGINE")) return option.Choices();
  std::vector<std::string> names = {kDefaultEngine};
  for (const EngineInfo& engine : Engines()) names.emplace_back(engine.name);
  return names;
}

void AddIfBegun(std::string_view typed, const std::string& word, Completion& completion,
                const std::string& description = "") {
  if (!word.empty() && word.starts_with(typed))
    completion.candidates.push_back({word, description});
}

}  // namespace

Completion Complete(std::span<const std::string> words) {
  Completion completion;
  if (words.empty()) return completion;
  const std::string& last = words.back();
  const std::string before = words.size() > 1 ? words[words.size() - 2] : "";
  const Command* command = nullptr;
  for (const std::string& word : words.first(words.size() - 1))
    if (command == nullptr) command = FindCommand(word);
  const std::vector<OptionInfo> options =
      command != nullptr ? OptionsOf(*command) : OptionsBeforeCommand();
  const bool is_name = last.starts_with('-');
  for (const OptionInfo& option : options) {
    const bool is_asked = before.starts_with('-') && option.has_value() &&
                          (before == option.long_name || before == option.short_name);
    if (is_asked) completion.candidates.clear();
    if (is_asked || (option.is_positional() && !is_name))
      for (const std::string& value : FixedValues(option)) AddIfBegun(last, value, completion);
    completion.files = !is_name && completion.candidates.empty();
    if (is_asked) return completion;
    if (!is_name) continue;
    AddIfBegun(last, option.long_name, completion);
    AddIfBegun(last, option.short_name, completion);
  }
  if (command != nullptr || is_name) return completion;
  for (const Command& known : Commands()) AddIfBegun(last, known.name, completion, known.summary);
  completion.files = true;  // ringscope FILE
  return completion;
}

namespace {

struct CompletionsArgs {
  std::string shell;
};

void SetUp(CLI::App& app, CompletionsArgs& args) {
  InGroup(app, kInputGroup);
  AddChoice(app, "SHELL", args.shell, {"bash", "zsh", "fish"}, "The shell to print the script for",
            Need::kRequired);
}

Result<ExitCode> RunCompletions(const CompletionsArgs& args, Context& context) {
  context.console.Print(args.shell == "bash"  ? BashScript()
                        : args.shell == "zsh" ? ZshScript()
                                              : FishScript());
  return ExitCode::kClean;
}

struct CompleteArgs {
  std::vector<std::string> words;
};

void SetUpComplete(CLI::App& app, CompleteArgs& args) {
  AddTexts(app, "WORD", args.words, "WORD", "The command line so far, after --");
}

Result<ExitCode> RunComplete(const CompleteArgs& args, Context& context) {
  const Completion completion = Complete(args.words);
  for (const Candidate& candidate : completion.candidates) {
    const char* const tab = candidate.description.empty() ? "" : "\t";
    context.console.Print(candidate.word + tab + candidate.description + "\n");
  }
  if (completion.files) context.console.Print(":files\n");
  return ExitCode::kClean;
}

}  // namespace

Command CompletionsCommand() {
  return {"completions",
          "Help",
          "Print a completion script for a shell",
          "Prints a script with which bash, zsh or fish completes ringscope's commands, options, "
          "values and files. Packages install these scripts; print one if you have only the "
          "binary.",
          {{"source <(ringscope completions bash)", "Complete in this bash"},
           {"ringscope completions fish > ~/.config/fish/completions/ringscope.fish",
            "Complete in fish from now on"}},
          Bind(SetUp, RunCompletions),
          {.notice = nullptr}};
}

Command CompleteCommand() {
  return {"__complete",
          "",
          "Print the words that can follow on a command line",
          "Completes the last WORD. Prints a line for each word that can replace it: the word, and "
          "after a tab its description. A line ':files' means names of files.",
          {},
          Bind(SetUpComplete, RunComplete),
          {.notice = nullptr}};
}

}  // namespace ringscope
