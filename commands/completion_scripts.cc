#include "commands/completion_scripts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "commands/dump_filter.h"
#include "commands/options.h"
#include "commands/registry.h"
#include "core/catalogue.h"

namespace ringscope {
namespace {

std::vector<std::string> EngineNames() {
  std::vector<std::string> names = {kDefaultEngine};
  for (const EngineInfo& engine : Engines()) names.emplace_back(engine.name);
  return names;
}

std::string Joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

/// "--output" or "-o|--output", as a pattern of bash's case.
std::string BashPattern(const OptionInfo& option) {
  return option.short_name.empty() ? option.long_name
                                   : fmt::format("{}|{}", option.short_name, option.long_name);
}

std::string BashCommand(const Command& command) {
  std::string cases;
  std::vector<std::string> names;
  std::string arguments;
  for (const OptionInfo& option : OptionsOf(command)) {
    const std::vector<std::string> values = CompletionValues(option);
    if (option.is_positional()) {
      arguments = Joined(values);
      continue;
    }
    names.push_back(option.long_name);
    if (!option.short_name.empty()) names.push_back(option.short_name);
    if (option.type.empty()) continue;
    cases += fmt::format("        {}) values='{}'; is_value=1 ;;\n", BashPattern(option),
                         Joined(values));
  }
  return fmt::format(
      "    {})\n"
      "      options='{}'\n"
      "      words='{}'\n"
      "      case \"$prev\" in\n"
      "{}"
      "      esac\n"
      "      ;;\n",
      command.name, Joined(names), arguments, cases);
}

/// Text for a zsh specification in single quotes.
std::string ZshQuoted(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      if (c == '[' || c == ']' || c == ':' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted;
}

/// What may stand in a value's place: ":SIZE:(a b)", ":FILE:_files".
std::string ZshValue(const OptionInfo& option) {
  const std::vector<std::string> values = CompletionValues(option);
  const std::string action = !values.empty()     ? fmt::format("({})", Joined(values))
                             : TakesFile(option) ? std::string("_files")
                                                 : std::string(" ");
  return fmt::format(":{}:{}", ZshQuoted(option.type), action);
}

std::string ZshOption(const OptionInfo& option) {
  if (option.is_positional())
    return fmt::format("'{}{}'", option.repeated ? "*" : "1", ZshValue(option));
  const std::string tail = fmt::format("[{}]{}", ZshQuoted(ShortDescription(option)),
                                       option.type.empty() ? std::string() : ZshValue(option));
  if (option.short_name.empty())
    return fmt::format("'{}{}{}'", option.repeated ? "*" : "", option.long_name, tail);
  return fmt::format("'({0} {1})'{{{0},{1}}}'{2}'", option.short_name, option.long_name, tail);
}

std::string FishQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string FishOption(const std::string& condition, const OptionInfo& option) {
  std::string line = fmt::format("complete -c ringscope -n {}", FishQuoted(condition));
  const std::vector<std::string> values = CompletionValues(option);
  if (!option.short_name.empty()) line += " -s " + option.short_name.substr(1);
  if (!option.is_positional()) line += " -l " + option.long_name.substr(2);
  if (TakesFile(option)) {
    line += option.is_positional() ? " -F" : " -r -F";
  } else if (!option.type.empty()) {
    if (!option.is_positional()) line += " -x";
    if (!values.empty()) line += " -a " + FishQuoted(Joined(values));
  }
  return line + " -d " + FishQuoted(ShortDescription(option)) + "\n";
}

}  // namespace

std::vector<std::string> CompletionValues(const OptionInfo& option) {
  if (option.type.ends_with("ENGINE")) return EngineNames();
  if (option.type == "KIND") return FilterKinds();
  if (option.type == "COMMAND") return CommandNames();
  return option.Choices();
}

bool TakesFile(const OptionInfo& option) {
  return option.type == kFileType || option.type == kLogType;
}

std::string ShortDescription(const OptionInfo& option) {
  const std::string& text = option.description;
  const size_t end =
      std::min({text.find(" ("), text.find(';'), text.find(". "), text.find(": "), text.size()});
  return text.substr(0, end);
}

std::string BashCompletions() {
  std::string commands;
  for (const Command& command : Commands()) commands += BashCommand(command);
  // Bash breaks words at '=' and '@' too, and replaces only what is behind them. So the script
  // reads the line itself, and cuts from each proposal what bash takes as words of their own.
  return fmt::format(
      "# Completion of ringscope for bash, made by 'ringscope completions bash'.\n"
      "_ringscope() {{\n"
      "  local line=\"${{COMP_LINE:0:COMP_POINT}}\" cur='' prev='' typed\n"
      "  read -ra typed <<<\"$line\"\n"
      "  [[ $line == *[[:space:]] ]] && typed+=('')\n"
      "  cur=\"${{typed[-1]}}\" prev=\"${{typed[-2]-}}\"\n"
      "  if [[ $cur == --*=* ]]; then\n"
      "    prev=\"${{cur%%=*}}\" cur=\"${{cur#*=}}\"\n"
      "  fi\n"
      "  [[ $cur =~ ^[0-9]+= ]] && cur=\"${{cur#*=}}\"\n"
      "  local command='' options='' words='' values='' is_value='' i\n"
      "  for ((i = 1; i < ${{#typed[@]}} - 1; i++)); do\n"
      "    case \"${{typed[i]}}\" in\n"
      "      --color) ((i++)) ;;\n"
      "      -*) ;;\n"
      "      *) command=\"${{typed[i]}}\"; break ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"$command\" in\n"
      "    '')\n"
      "      options='--help -h --version --color --quiet -q'\n"
      "      words='{}'\n"
      "      case \"$prev\" in\n"
      "        --color) values='auto always never'; is_value=1 ;;\n"
      "      esac\n"
      "      ;;\n"
      "{}"
      "  esac\n"
      "  if [[ -n $is_value ]]; then\n"
      "    words=\"$values\"\n"
      "  elif [[ $cur == -* ]]; then\n"
      "    words=\"$options\"\n"
      "  fi\n"
      "  # Where no word fits, bash completes file names.\n"
      "  COMPREPLY=()\n"
      "  [[ -z $words ]] || COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
      "  local breaks=\"${{COMP_WORDBREAKS//[^@=]/}}\"\n"
      "  [[ -z $breaks ]] || "
      "COMPREPLY=(\"${{COMPREPLY[@]#\"${{cur%\"${{cur##*[$breaks]}}\"}}\"}}\")\n"
      "}}\n"
      "complete -o default -F _ringscope ringscope\n",
      Joined(CommandNames()), commands);
}

std::string ZshCompletions() {
  std::string names;
  std::string cases;
  for (const Command& command : Commands()) {
    names += fmt::format("        '{}:{}'\n", command.name, ZshQuoted(command.summary));
    std::string specs;
    for (const OptionInfo& option : OptionsOf(command))
      specs += fmt::format(" \\\n            {}", ZshOption(option));
    cases +=
        fmt::format("        {})\n          _arguments -s{}\n          ;;\n", command.name, specs);
  }
  return fmt::format(
      "#compdef ringscope\n"
      "# Completion of ringscope for zsh, made by 'ringscope completions zsh'.\n"
      "_ringscope() {{\n"
      "  local curcontext=\"$curcontext\" state line\n"
      "  typeset -A opt_args\n"
      "  _arguments -C -s \\\n"
      "    '(-h --help)'{{-h,--help}}'[List the commands]' \\\n"
      "    '--version[Print the version]' \\\n"
      "    '--color[Colours in what is printed]:WHEN:(auto always never)' \\\n"
      "    '(-q --quiet)'{{-q,--quiet}}'[No progress and no messages]' \\\n"
      "    '1:command:->command' \\\n"
      "    '*::argument:->argument' && return\n"
      "  case $state in\n"
      "    command)\n"
      "      local -a commands\n"
      "      commands=(\n"
      "{}"
      "      )\n"
      "      _describe -t commands command commands\n"
      "      ;;\n"
      "    argument)\n"
      "      case $words[1] in\n"
      "{}"
      "      esac\n"
      "      ;;\n"
      "  esac\n"
      "}}\n"
      "_ringscope \"$@\"\n",
      names, cases);
}

std::string FishCompletions() {
  std::string text =
      "# Completion of ringscope for fish, made by 'ringscope completions fish'.\n"
      "complete -c ringscope -f\n"
      "complete -c ringscope -n __fish_use_subcommand -s h -l help -d 'List the commands'\n"
      "complete -c ringscope -n __fish_use_subcommand -l version -d 'Print the version'\n"
      "complete -c ringscope -n __fish_use_subcommand -l color -x -a 'auto always never' -d "
      "'Colours in what is printed'\n"
      "complete -c ringscope -n __fish_use_subcommand -s q -l quiet -d 'No progress and no "
      "messages'\n";
  for (const Command& command : Commands()) {
    text += fmt::format("complete -c ringscope -n __fish_use_subcommand -a {} -d {}\n",
                        command.name, FishQuoted(command.summary));
    for (const OptionInfo& option : OptionsOf(command))
      text += FishOption(fmt::format("__fish_seen_subcommand_from {}", command.name), option);
  }
  return text;
}

}  // namespace ringscope
