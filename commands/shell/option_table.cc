#include "commands/shell/option_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>

#include "commands/shell/registry.h"

namespace ringscope {
namespace {

/// "; not with --a or --b", or nothing.
/// @param between two names: " or "
std::string Others(const char* words, const char* between, const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  std::sort(names.begin(), names.end());
  return names.empty() ? "" : fmt::format("; {} {}", words, fmt::join(names, between));
}

OptionInfo InfoOf(const CLI::Option& option) {
  OptionInfo info;
  if (!option.get_snames().empty()) info.short_name = "-" + option.get_snames().front();
  if (!option.get_lnames().empty()) info.long_name = "--" + option.get_lnames().front();
  if (option.get_items_expected_max() > 0) info.type = option.get_type_name();
  info.description = option.get_description() + Others("needs", " and ", option.get_needs()) +
                     Others("not with", " or ", option.get_excludes());
  info.group = option.get_group();
  info.required = option.get_required();
  info.repeated = option.get_items_expected_max() > 1;
  return info;
}

/// The options that are shown, those of a group together.
std::vector<OptionInfo> InfosOf(const CLI::App& app) {
  std::vector<OptionInfo> infos;
  std::vector<std::string> groups;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    infos.push_back(InfoOf(*option));
    const std::string& group = infos.back().group;
    if (group != kGlobalGroup && std::find(groups.begin(), groups.end(), group) == groups.end())
      groups.push_back(group);
  }
  const auto rank = [&](const OptionInfo& info) {
    return std::find(groups.begin(), groups.end(), info.group) - groups.begin();
  };
  std::stable_sort(infos.begin(), infos.end(),
                   [&](const OptionInfo& a, const OptionInfo& b) { return rank(a) < rank(b); });
  return infos;
}

}  // namespace

std::string OptionInfo::Synopsis() const {
  if (is_positional()) return type + (repeated ? "..." : "");
  std::string text = short_name.empty() ? "" : short_name + ", ";
  text += long_name;
  if (has_value()) text += " " + type;
  return text;
}

std::vector<std::string> OptionInfo::Choices() const {
  // "[BUFFER=]a|b" has its choices after the optional part; "a|b,..." is a list of them; of
  // "every=TIME" the user completes what follows the "=".
  std::string_view rest = type;
  if (const size_t bracket = rest.find(']'); bracket != std::string_view::npos)
    rest.remove_prefix(bracket + 1);
  if (rest.ends_with(",...")) rest.remove_suffix(4);
  std::vector<std::string> choices;
  if (rest.find('|') == std::string_view::npos) return choices;
  while (!rest.empty()) {
    const std::string_view choice = rest.substr(0, rest.find('|'));
    rest.remove_prefix(std::min(choice.size() + 1, rest.size()));
    const bool is_placeholder = std::isupper(static_cast<unsigned char>(choice.front())) != 0;
    if (!is_placeholder) choices.emplace_back(choice.substr(0, choice.find('=')));
    if (!is_placeholder && choice.find('=') != std::string_view::npos) choices.back() += '=';
  }
  return choices;
}

std::vector<OptionInfo> OptionsOf(const Command& command) {
  GlobalArgs globals;
  const BoundCommand bound = BindCommand(command, globals);
  return InfosOf(*bound.app);
}

std::vector<OptionInfo> OptionsBeforeCommand() {
  GlobalArgs globals;
  CLI::App app;
  AddOptionsBeforeCommand(app, globals);
  return InfosOf(app);
}

std::string UsageLine(const Command& command) {
  std::string line = fmt::format("ringscope {} [OPTIONS]", command.name);
  std::string arguments;
  for (const OptionInfo& option : OptionsOf(command)) {
    if (option.is_positional()) {
      arguments +=
          option.required ? " " + option.Synopsis() : fmt::format(" [{}]", option.Synopsis());
    } else if (option.required) {
      line += fmt::format(
          " {} {}", option.short_name.empty() ? option.long_name : option.short_name, option.type);
    }
  }
  return line + arguments;
}

}  // namespace ringscope
