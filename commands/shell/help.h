#ifndef RINGSCOPE_COMMANDS_SHELL_HELP_H_
#define RINGSCOPE_COMMANDS_SHELL_HELP_H_

#include <span>
#include <string>
#include <vector>

#include "commands/shell/command.h"

namespace ringscope {

/// An option or a positional argument as help, man pages and completions show it.
struct OptionInfo {
  std::string short_name;            // "-o"; empty: none
  std::string long_name;             // "--output"; empty: a positional argument
  std::string type;                  // of the value: "SIZE", "text|json"; empty: a flag
  std::vector<std::string> choices;  // fixed values; empty: there are none
  std::string description;           // with what it cannot be used with; no full stop at the end
  std::string group;                 // its heading
  bool required = false;
  bool repeated = false;

  bool is_positional() const { return long_name.empty(); }
  bool has_value() const { return !type.empty(); }
  /// "-o, --output FILE", "LOG..."
  std::string Synopsis() const;
};

/// A command's arguments and options, group by group in the order of declaration; global ones last.
std::vector<OptionInfo> OptionsOf(const Command& command);
/// The options before a command's name.
std::vector<OptionInfo> OptionsBeforeCommand();

/// "ringscope replay [OPTIONS] LOG..."
std::string UsageLine(const Command& command);

/// The help of a command: all of it, or a screen with the options that matter.
enum class HelpSize : uint8_t { kAll, kScreen };
std::string CommandHelp(const Command& command, const Console& console,
                        HelpSize size = HelpSize::kAll);
/// Returns the text of `ringscope help`: the commands by group.
std::string OverviewHelp(const Console& console);

/// Returns the topics of `ringscope help`: commands, words of the outputs, rules of doctor.
std::vector<std::string> HelpTopics();

/// A word of the outputs, and what it means.
struct Word {
  const char* word;
  const char* meaning;  // one or two sentences, with what to do about it
};
/// The words that the outputs use for the parts of tracing, from what people see down to the
/// buffer.
std::span<const Word> Words();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_HELP_H_
