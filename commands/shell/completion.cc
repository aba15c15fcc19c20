#include "commands/shell/completion.h"

#include <algorithm>
#include <string_view>

#include "commands/gaps/gap_filter_options.h"
#include "commands/shell/registry.h"
#include "core/engine/catalogue.h"
#include "core/log/record_filter.h"

namespace ringscope {
namespace {

constexpr const char* kListSuffix = ",...";
constexpr size_t kMostDescription = 60;  // characters, next to a word

std::vector<std::string> EngineNames() {
  std::vector<std::string> names = {kDefaultEngine};
  for (const EngineInfo& engine : Engines()) names.emplace_back(engine.name);
  return names;
}

/// The type of one value: ENGINE of "[BUFFER=]ENGINE" and of "ENGINE,...".
std::string_view ValueType(std::string_view type) {
  if (type.starts_with('[')) type.remove_prefix(std::min(type.find(']') + 1, type.size()));
  if (type.ends_with(kListSuffix)) type.remove_suffix(std::string_view(kListSuffix).size());
  return type;
}

/// Whether values of this option can be paths, given how the value begins.
bool TakesFile(const OptionInfo& option, std::string_view begin) {
  const std::string_view type = ValueType(option.type);
  if (type == "ENGINE") return begin.find('/') != std::string_view::npos;
  for (const char* file : {"FILE", "LOG", "INPUT", "RESULT", "PLUGIN", "SOCKET", "PROGRAM"})
    if (type == file) return true;
  return false;
}

/// The first clause of a description, for one line next to the word.
std::string ShortDescription(const OptionInfo& option) {
  const std::string& text = option.description;
  const size_t end = std::min({text.find(" ("), text.find("; "), text.find(". "), text.find(": "),
                               text.find(", "), text.size()});
  if (end <= kMostDescription) return text.substr(0, end);
  return text.substr(0, text.rfind(' ', kMostDescription)) + " ...";
}

/// The options and arguments that can follow, and what precedes the last word.
class CommandLineReader {
 public:
  explicit CommandLineReader(std::vector<OptionInfo> options) : options_(std::move(options)) {}

  /// Takes a word that is complete. @return whether it is neither an option nor its value
  bool TakeWord(const std::string& word) {
    if (open_ != nullptr) {
      open_ = nullptr;
      return false;
    }
    if (only_arguments_ || !word.starts_with('-') || word == "-") {
      ++arguments_;
      return true;
    }
    if (word == "--") {
      only_arguments_ = true;
      return false;
    }
    const OptionInfo* const option = Find(word.substr(0, word.find('=')));
    if (option == nullptr) return false;
    used_.push_back(option);
    if (option->has_value() && word.find('=') == std::string::npos) open_ = option;
    return false;
  }

  /// Completes the last word. @return false: it is an argument
  bool CompleteOption(const std::string& word, Completion& completion) const {
    if (open_ != nullptr) {
      CompleteValue(*open_, "", word, completion);
      return true;
    }
    if (only_arguments_ || !word.starts_with('-')) return false;
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
      CompleteName(word, completion);
    } else if (const OptionInfo* const option = Find(word.substr(0, equals))) {
      CompleteValue(*option, word.substr(0, equals + 1), word.substr(equals + 1), completion);
    }
    return true;
  }

  void CompleteArgument(const std::string& word, Completion& completion) const {
    size_t before = arguments_;
    for (const OptionInfo& option : options_) {
      if (!option.is_positional()) continue;
      if (before == 0 || option.repeated) return CompleteValue(option, "", word, completion);
      --before;
    }
  }

 private:
  const OptionInfo* Find(std::string_view name) const {
    for (const OptionInfo& option : options_)
      if (!option.is_positional() && (name == option.long_name || name == option.short_name))
        return &option;
    return nullptr;
  }

  void CompleteName(const std::string& word, Completion& completion) const {
    for (const OptionInfo& option : options_) {
      const bool is_used = std::find(used_.begin(), used_.end(), &option) != used_.end();
      if (option.is_positional() || (is_used && !option.repeated)) continue;
      for (const std::string& name : {option.long_name, option.short_name})
        if (!name.empty() && name.starts_with(word))
          completion.candidates.push_back({name, ShortDescription(option)});
    }
  }

  /// @param before what of the word precedes the value: "--size="
  /// @param value as far as it is typed
  static void CompleteValue(const OptionInfo& option, std::string before, std::string value,
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
    if (TakesFile(option, value)) completion.files = true;
  }

  const std::vector<OptionInfo> options_;
  std::vector<const OptionInfo*> used_;
  const OptionInfo* open_ = nullptr;  // the next word is its value
  bool only_arguments_ = false;       // after --
  size_t arguments_ = 0;              // taken
};

}  // namespace

std::vector<std::string> FixedValues(const OptionInfo& option) {
  const std::string_view type = ValueType(option.type);
  if (type == "ENGINE") return EngineNames();
  if (type == "KIND") return FilterKinds();
  if (type == "FATE") return FilterFates();
  if (type == "COMMAND") return CommandNames();
  return option.Choices();
}

Completion Complete(std::span<const std::string> words) {
  Completion completion;
  if (words.empty()) return completion;
  const std::string& last = words.back();
  const Command* command = nullptr;
  CommandLineReader front(OptionsBeforeCommand());
  size_t next = 0;
  while (next + 1 < words.size() && command == nullptr) {
    const std::string& word = words[next++];
    if (!front.TakeWord(word)) continue;
    command = FindCommand(word);
    if (command == nullptr) return completion;
  }
  if (command == nullptr) {
    if (front.CompleteOption(last, completion)) return completion;
    for (const Command& known : Commands())
      if (std::string_view(known.name).starts_with(last))
        completion.candidates.push_back({known.name, known.summary});
    return completion;
  }
  CommandLineReader options(OptionsOf(*command));
  for (; next + 1 < words.size(); ++next) options.TakeWord(words[next]);
  if (!options.CompleteOption(last, completion)) options.CompleteArgument(last, completion);
  return completion;
}

}  // namespace ringscope
