#ifndef RINGSCOPE_COMMANDS_HELP_TEXT_H_
#define RINGSCOPE_COMMANDS_HELP_TEXT_H_

#include <string>
#include <vector>

#include "commands/command.h"

namespace ringscope {

/// An option or a positional as help, completions and the man-page check see it.
struct OptionInfo {
  std::string short_name;  // "-o"; empty: none
  std::string long_name;   // "--output"; empty: a positional
  std::string type;        // of the value: "SIZE", "table|json"; empty: a flag
  std::string description;
  std::string group;
  bool required = false;
  bool repeated = false;

  bool is_positional() const { return long_name.empty(); }
  /// "-o, --output FILE", "LOG..."
  std::string Synopsis() const;
  /// The fixed values of an option like "table|json"; empty: there are none.
  std::vector<std::string> Choices() const;
};

/// A command's positionals and options, global ones last.
std::vector<OptionInfo> OptionsOf(const Command& command);

/// The whole help of a command.
std::string CommandHelp(const Command& command, const Console& console);
/// What `ringscope help` prints: the commands by group.
std::string OverviewHelp(const Console& console);
/// "usage: ringscope replay [OPTIONS] LOG..."
std::string UsageLine(const Command& command);

/// Breaks text into lines of at most 80 columns, each behind `indent` spaces; no line break at the
/// end.
std::string Wrap(std::string_view text, size_t indent);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_HELP_TEXT_H_
