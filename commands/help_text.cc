#include "commands/help_text.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "commands/registry.h"

namespace ringscope {
namespace {

constexpr size_t kLineWidth = 80;
constexpr size_t kOptionColumn = 6;
constexpr const char* kGlobalGroup = "Global options";

OptionInfo InfoOf(const CLI::Option& option) {
  OptionInfo info;
  if (!option.get_snames().empty()) info.short_name = "-" + option.get_snames().front();
  if (!option.get_lnames().empty()) info.long_name = "--" + option.get_lnames().front();
  if (option.get_items_expected_max() > 0) info.type = option.get_type_name();
  info.description = option.get_description();
  info.group = option.get_group() == kGlobalGroup ? kGlobalGroup : "Options";
  info.required = option.get_required();
  info.repeated = option.get_items_expected_max() > 1;
  return info;
}

void AppendOptions(std::string& text, const Console& console,
                   const std::vector<OptionInfo>& options, const std::string& heading,
                   const std::string& group) {
  std::string body;
  for (const OptionInfo& option : options) {
    if (option.is_positional() || option.group != group) continue;
    body += fmt::format("  {}\n{}\n", console.Bold(option.Synopsis()),
                        Wrap(option.description, kOptionColumn));
  }
  if (!body.empty()) text += fmt::format("\n{}\n{}", console.Bold(heading), body);
}

}  // namespace

std::string OptionInfo::Synopsis() const {
  if (is_positional()) return type + (repeated ? "..." : "");
  std::string text = short_name.empty() ? "" : short_name + ", ";
  text += long_name;
  if (!type.empty()) text += " " + type;
  return text;
}

std::vector<std::string> OptionInfo::Choices() const {
  // "[BUFFER=]a|b" has choices behind its optional part; "a|every=TIME" a last one to be completed
  // by hand.
  std::string_view rest = type;
  if (const size_t bracket = rest.find(']'); bracket != std::string_view::npos)
    rest.remove_prefix(bracket + 1);
  std::vector<std::string> choices;
  if (rest.find('|') == std::string_view::npos) return choices;
  while (!rest.empty()) {
    const size_t bar = std::min(rest.find('|'), rest.size());
    const std::string_view choice = rest.substr(0, bar);
    choices.emplace_back(choice.substr(0, std::min(choice.find('=') + 1, choice.size())));
    if (choices.back().empty()) choices.back() = choice;
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  return choices;
}

std::vector<OptionInfo> OptionsOf(const Command& command) {
  GlobalArgs globals;
  const BoundCommand bound = BindCommand(command, globals);
  std::vector<OptionInfo> infos;
  const CLI::App& app = *bound.app;
  for (const CLI::Option* option : app.get_options()) infos.push_back(InfoOf(*option));
  std::stable_sort(infos.begin(), infos.end(), [](const OptionInfo& a, const OptionInfo& b) {
    const auto rank = [](const OptionInfo& info) {
      return info.is_positional() ? 0 : info.group == kGlobalGroup ? 2 : 1;
    };
    return rank(a) < rank(b);
  });
  return infos;
}

std::string UsageLine(const Command& command) {
  std::string line = fmt::format("usage: ringscope {} [OPTIONS]", command.name);
  for (const OptionInfo& option : OptionsOf(command)) {
    if (option.is_positional()) {
      line += option.required ? " " + option.Synopsis() : fmt::format(" [{}]", option.Synopsis());
    } else if (option.required) {
      line += fmt::format(
          " {} {}", option.short_name.empty() ? option.long_name : option.short_name, option.type);
    }
  }
  return line;
}

std::string CommandHelp(const Command& command, const Console& console) {
  const std::vector<OptionInfo> options = OptionsOf(command);
  std::string text = UsageLine(command) + "\n\n" + Wrap(command.description, 0) + "\n";
  bool heading = false;
  for (const OptionInfo& option : options) {
    if (!option.is_positional()) continue;
    if (!heading) text += "\n" + console.Bold("Arguments") + "\n";
    heading = true;
    text += fmt::format("  {}\n{}\n", console.Bold(option.Synopsis()),
                        Wrap(option.description, kOptionColumn));
  }
  AppendOptions(text, console, options, "Options", "Options");
  AppendOptions(text, console, options, "Global options", kGlobalGroup);
  if (!command.examples.empty()) text += "\n" + console.Bold("Examples") + "\n";
  for (const Example& example : command.examples)
    text += fmt::format("  {}\n{}\n", example.command, Wrap(example.what, kOptionColumn));
  return text;
}

std::string OverviewHelp(const Console& console) {
  std::string text =
      "usage: ringscope COMMAND [OPTIONS] ...\n\n" +
      Wrap(
          "ringscope replays what producers committed to Perfetto's trace buffers through exact "
          "reimplementations of these buffers, and accounts for what was lost.",
          0) +
      "\n";
  size_t width = 0;
  std::vector<std::string> groups;
  for (const Command& command : Commands()) {
    width = std::max(width, std::string_view(command.name).size());
    if (std::find(groups.begin(), groups.end(), command.group) == groups.end())
      groups.emplace_back(command.group);
  }
  for (const std::string& group : groups) {
    text += fmt::format("\n{}\n", console.Bold(group));
    for (const Command& command : Commands())
      if (command.group == group)
        text += fmt::format("  {:<{}}  {}\n", command.name, width, command.summary);
  }
  text += "\n" +
          Wrap(
              "'ringscope help COMMAND' explains a command, 'man ringscope' the whole. Exit "
              "status: 0 done, 1 failed, 2 usage error, 3 done and there is something to know "
              "(damage that was skipped, a loss that was asked for).",
              0) +
          "\n";
  return text;
}

std::string Wrap(std::string_view text, size_t indent) {
  const std::string margin(indent, ' ');
  std::string out = margin;
  size_t column = indent;
  bool line_start = true;
  while (!text.empty()) {
    const size_t size = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, size);
    text.remove_prefix(std::min(size + 1, text.size()));
    if (!line_start && column + 1 + word.size() > kLineWidth) {
      out += "\n" + margin;
      column = indent;
      line_start = true;
    }
    if (!line_start) out += ' ', ++column;
    out += word;
    column += word.size();
    line_start = false;
  }
  return out;
}

}  // namespace ringscope
