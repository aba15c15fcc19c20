#include "commands/shell/completion.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "commands/shell/commands.h"
#include "commands/shell/embedded_file.h"
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

constexpr const char* kListSuffix = ",...";
constexpr size_t kMostDescription = 60;  // characters, next to a word

/// The type of one value: ENGINE of "[BUFFER=]ENGINE" and of "ENGINE,...".
std::string_view ValueType(std::string_view type) {
  if (type.starts_with('[')) type.remove_prefix(std::min(type.find(']') + 1, type.size()));
  if (type.ends_with(kListSuffix)) type.remove_suffix(std::string_view(kListSuffix).size());
  return type;
}

/// True if values of this option can be paths, given how the value begins.
bool TakesFile(const OptionInfo& option, std::string_view begin) {
  const std::string_view type = ValueType(option.type);
  if (type == "ENGINE") return begin.find('/') != std::string_view::npos;
  for (const char* file :
       {"FILE", "LOG", "TRACE", "INPUT", "RESULT", "PLUGIN", "SOCKET", "PROGRAM"})
    if (type == file) return true;
  return false;
}

/// The first clause of a description, for one line next to the word.
std::string ShortDescription(const std::string& text) {
  const size_t end = std::min({text.find(" ("), text.find("; "), text.find(". "), text.find(": "),
                               text.find(", "), text.size()});
  if (end <= kMostDescription) return text.substr(0, end);
  return text.substr(0, text.rfind(' ', kMostDescription)) + " ...";
}

const OptionInfo* FindOption(const std::vector<OptionInfo>& options, std::string_view name) {
  for (const OptionInfo& option : options)
    if (!option.is_positional() && (name == option.long_name || name == option.short_name))
      return &option;
  return nullptr;
}

/// @param before the part of the word that precedes the value: "--size="
/// @param value as far as it is typed
void CompleteValue(const OptionInfo& option, std::string before, std::string value,
                   Completion& completion) {
  const auto skip = [&](size_t count) {
    before += value.substr(0, count);
    value.erase(0, count);
  };
  // "1=" of [BUFFER=]VALUE; all but the last value of a list.
  if (option.type.starts_with("[BUFFER=]")) {
    const size_t id = value.find_first_not_of("0123456789");
    if (id != 0 && id != std::string::npos && value[id] == '=') skip(id + 1);
  }
  if (option.type.ends_with(kListSuffix)) skip(value.rfind(',') + 1);
  for (const std::string& fixed : FixedValues(option))
    if (fixed.starts_with(value)) completion.candidates.push_back({before + fixed, ""});
  completion.files |= TakesFile(option, value);
}

/// Completes the last word, an option, its value or an argument.
/// @param words that follow the command, or precede it
void CompleteLast(const std::vector<OptionInfo>& options, std::span<const std::string> words,
                  Completion& completion) {
  const OptionInfo* open = nullptr;  // its value is the next word
  bool only_arguments = false;       // after --
  size_t arguments = 0;
  for (const std::string& word : words.first(words.size() - 1)) {
    if (open != nullptr) {
      open = nullptr;
    } else if (only_arguments || !word.starts_with('-') || word == "-") {
      ++arguments;
    } else if (word == "--") {
      only_arguments = true;
    } else if (word.find('=') == std::string::npos) {
      const OptionInfo* const option = FindOption(options, word);
      if (option != nullptr && option->has_value()) open = option;
    }
  }
  const std::string& last = words.back();
  if (open != nullptr) return CompleteValue(*open, "", last, completion);
  const size_t equals = last.find('=');
  if (!only_arguments && last.starts_with('-') && equals != std::string::npos) {
    if (const OptionInfo* const option = FindOption(options, last.substr(0, equals)))
      CompleteValue(*option, last.substr(0, equals + 1), last.substr(equals + 1), completion);
    return;
  }
  for (const OptionInfo& option : options) {
    if (!only_arguments && last.starts_with('-')) {
      for (const std::string& name : {option.long_name, option.short_name})
        if (!name.empty() && name.starts_with(last))
          completion.candidates.push_back({name, ShortDescription(option.description)});
    } else if (option.is_positional()) {
      if (arguments == 0 || option.repeated) return CompleteValue(option, "", last, completion);
      --arguments;
    }
  }
}

}  // namespace

std::vector<std::string> FixedValues(const OptionInfo& option) {
  const std::string_view type = ValueType(option.type);
  if (type == "COMMAND") return CommandNames();
  if (type != "ENGINE") return option.Choices();
  std::vector<std::string> names = {kDefaultEngine};
  for (const EngineInfo& engine : Engines()) names.emplace_back(engine.name);
  return names;
}

Completion Complete(std::span<const std::string> words) {
  Completion completion;
  if (words.empty()) return completion;
  const std::vector<OptionInfo> globals = OptionsBeforeCommand();
  bool is_value = false;
  for (size_t at = 0; at + 1 < words.size(); ++at) {
    const std::string& word = words[at];
    if (is_value) {
      is_value = false;
    } else if (word.starts_with('-')) {
      const OptionInfo* const option = FindOption(globals, word);
      is_value = option != nullptr && option->has_value();
    } else {
      if (const Command* const command = FindCommand(word))
        CompleteLast(OptionsOf(*command), words.subspan(at + 1), completion);
      return completion;
    }
  }
  CompleteLast(globals, words, completion);
  if (is_value || words.back().starts_with('-')) return completion;
  for (const Command& known : Commands())
    if (std::string_view(known.name).starts_with(words.back()))
      completion.candidates.push_back({known.name, known.summary});
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
