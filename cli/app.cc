#include "cli/app.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <filesystem>
#include <map>
#include <system_error>
#include <vector>

#include "commands/plugin/plugin.h"
#include "commands/shell/help.h"
#include "commands/shell/registry.h"
#include "core/base/lookup.h"

namespace ringscope {
namespace {

constexpr const char* kSeeHelp = "see 'ringscope help'";

/// CLI11 takes arguments last one first.
std::vector<std::string> Reversed(std::span<const std::string> args) {
  return {args.rbegin(), args.rend()};
}

tl::unexpected<Error> UsageError(std::string message, std::string hint) {
  return Fail(ErrorCode::kUsage, std::move(message), {}, std::move(hint));
}

/// Returns true for a file, a folder or standard input rather than a command's name.
bool IsFile(const std::string& text) {
  std::error_code ignored;
  return text == "-" || std::filesystem::exists(text, ignored);
}

tl::unexpected<Error> UnknownOption(const std::string& text, const CLI::App& app,
                                    const std::string& see_help) {
  const std::string name = text.substr(0, text.find('='));
  if (IsFile(text))
    return UsageError(fmt::format("there is no option '{}'", name),
                      "the file of this name is " + ShellWord(text));
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& long_name : option->get_lnames()) known.push_back("--" + long_name);
    for (const std::string& short_name : option->get_snames()) known.push_back("-" + short_name);
  }
  return UsageError(fmt::format("there is no option '{}'", name),
                    DidYouMean(name, known, see_help));
}

/// Returns true if a word can only be a file's name, or that of a list of files: no command has
/// these signs.
bool IsFileName(const std::string& text) {
  return text.find_first_of("/.") != std::string::npos || text.starts_with('@');
}

bool IsOption(const std::string& text) { return text.size() > 1 && text.front() == '-'; }

/// Reads what precedes the command. @return the command and what belongs to it
Result<std::vector<std::string>> ParseGlobals(std::span<const std::string> args,
                                              GlobalArgs& globals) {
  CLI::App app;
  AddOptionsBeforeCommand(app, globals);
  app.prefix_command();
  try {
    app.parse(Reversed(args));
  } catch (const CLI::ValidationError& error) {
    return UsageError(error.what(), "");  // the text has what is expected
  } catch (const CLI::ParseError& error) {
    return UsageError(error.what(), kSeeHelp);
  }
  return app.remaining();
}

/// The options before the first word that is neither an option nor an option's value.
struct OptionsBefore {
  size_t end = 0;       // the place of that word, a command or a file; or the number of words
  std::string unknown;  // the first option that no command has
};
OptionsBefore FindOptionsBefore(const std::vector<std::string>& words) {
  std::map<std::string, bool> has_value;  // by the name of each command's options
  for (const Command& command : Commands())
    for (const OptionInfo& option : OptionsOf(command))
      if (!option.is_positional())
        for (const std::string& name : {option.long_name, option.short_name})
          has_value[name] |= option.has_value();
  OptionsBefore before;
  while (before.end < words.size() && IsOption(words[before.end]) && words[before.end] != "--") {
    const std::string& word = words[before.end];
    const size_t equals = word.find('=');
    const auto known = has_value.find(word.substr(0, equals));
    const bool is_known = known != has_value.end();
    if (!is_known && before.unknown.empty()) before.unknown = word;
    before.end += is_known && known->second && equals == std::string::npos ? 2 : 1;
  }
  before.end = std::min(before.end, words.size());
  return before;
}

/// Puts the command in front. Options may precede it; a file in its place asks what is wrong with
/// the file.
Result<const Command*> TakeCommand(std::vector<std::string>& words) {
  // All commands' options are known only with some work, which other command lines do not need.
  const auto before = IsOption(words.front()) ? FindOptionsBefore(words) : OptionsBefore();
  const size_t at = before.end;
  const std::string name = at < words.size() ? words[at] : "";
  if (const Command* const command = FindCommand(name)) {
    words.erase(words.begin() + static_cast<ptrdiff_t>(at));
    return command;
  }
  const bool is_about_config = Contains(words, "--config");
  const bool is_empty_name = name.empty() && at < words.size();
  if (name == "--" || is_empty_name || IsFile(name) || IsFileName(name) ||
      (name.empty() && is_about_config)) {
    const bool is_more = std::ranges::any_of(words, [](const std::string& word) {
      return word == "--all" || word == "--rule" || word.starts_with("--rule=");
    });
    if (!is_more) words.insert(words.begin(), "--brief");
    return FindCommand("doctor");
  }
  if (name.empty() || !before.unknown.empty()) {
    CLI::App app;
    GlobalArgs ignored;
    AddOptionsBeforeCommand(app, ignored);
    const std::string& option = before.unknown.empty() ? words.front() : before.unknown;
    return UnknownOption(option, app, kSeeHelp);
  }
  return tl::unexpected(UnknownCommand(name));
}

/// Returns an error if two options of the command line exclude each other.
Status Conflict(const CLI::App& app, const std::string& see_help) {
  for (const CLI::Option* option : app.get_options())
    for (const CLI::Option* other : option->get_excludes())
      if (option->count() > 0 && other->count() > 0)
        return UsageError(
            fmt::format("{} and {} cannot be used together", option->get_name(), other->get_name()),
            "leave out one of them; " + see_help);
  return {};
}

/// Returns true if both the config and another input are standard input, which has one of them.
bool ReadsTwoFromStandardInput(const CLI::App& app) {
  const auto is_stream = [](const CLI::Option* option) { return Contains(option->results(), "-"); };
  const CLI::Option* const config = app.get_option_no_throw("--config");
  return config != nullptr && is_stream(config) &&
         std::ranges::any_of(app.get_options(), [&](const CLI::Option* option) {
           return option->get_positional() && is_stream(option);
         });
}

/// An option with too few or too many values, in our words.
std::string WordsOf(const CLI::ArgumentMismatch& error, const CLI::App& app) {
  const std::string text = error.what();
  const std::string name = text.substr(0, text.find(':'));
  const CLI::Option* const option = app.get_option_no_throw(name);
  if (option == nullptr) return text;
  const auto most = static_cast<size_t>(std::max(option->get_expected_max(), 1));
  if (option->count() > most)
    return most == 1 ? fmt::format("{} is given more than once", name)
                     : fmt::format("{} is given more than {} times", name, most);
  return fmt::format("{} needs a value: {}", name, option->get_type_name());
}

/// Reads a command's own options. @return false: its help was asked for
Result<bool> ParseOptions(CLI::App& app, const Command& command,
                          std::span<const std::string> args) {
  const std::string see_help = fmt::format("see 'ringscope help {}'", command.name);
  try {
    app.parse(Reversed(args));
  } catch (const CLI::CallForHelp&) {
    return false;
  } catch (const CLI::ValidationError& error) {
    return UsageError(error.what(), "");  // the text has what is expected
  } catch (const CLI::ParseError& error) {
    // A mistyped option causes other errors, too; it is the one to report.
    for (const std::string& text : app.remaining())
      if (IsOption(text)) return UnknownOption(text, app, see_help);
    if (!app.remaining().empty()) {
      return UsageError(fmt::format("'{}' is one argument too many", app.remaining().front()),
                        see_help);
    }
    RS_RETURN_IF_ERROR(Conflict(app, see_help));
    const auto* const mismatch = dynamic_cast<const CLI::ArgumentMismatch*>(&error);
    return UsageError(mismatch != nullptr ? WordsOf(*mismatch, app) : error.what(), see_help);
  }
  if (ReadsTwoFromStandardInput(app))
    return UsageError("the input and --config cannot both be standard input",
                      "name a file for one of them");
  return true;
}

/// Prints the error of a run that failed. @return the exit status
int StatusOf(const Result<ExitCode>& result, Console& console) {
  if (result) return static_cast<int>(*result);
  if (console.streams().out.reader_gone()) return static_cast<int>(ExitCode::kClean);
  console.PrintError(result.error().ToString());
  const ErrorCode code = result.error().code;
  return static_cast<int>(code == ErrorCode::kUsage  ? ExitCode::kUsage
                          : code == ErrorCode::kDied ? ExitCode::kNotice  // of a plug-in: a finding
                                                     : ExitCode::kFailed);
}

/// Runs `body` and writes out what it printed. Libraries may throw what no caller can foresee, such
/// as being out of memory.
template <typename Body>
Result<ExitCode> RunCatching(const Body& body, Console& console) {
  try {
    RS_ASSIGN_OR_RETURN(const ExitCode code, body());
    RS_RETURN_IF_ERROR(console.Flush());
    return code;
  } catch (const std::exception& error) {
    return Fail(ErrorCode::kLimit, fmt::format("cannot continue: {}", error.what()));
  }
}

/// Runs a command in a child process if it uses plug-ins.
Result<ExitCode> RunBody(const BoundCommand& bound, Console& console) {
  Context context{console};
  const auto body = [&] { return bound.run(context); };
  const std::vector<std::string> plugins = PluginsOf(*bound.app);
  if (plugins.empty() || !console.streams().of_process) return body();
  RS_ASSIGN_OR_RETURN(const PluginLimits limits, PluginLimits::FromEnvironment());
  if (limits.time_ns == 0) return body();
  const auto child = [&] { return StatusOf(RunCatching(body, console), console); };
  RS_ASSIGN_OR_RETURN(const int status, RunGuarded(limits, plugins, child));
  return static_cast<ExitCode>(status);
}

Result<ExitCode> RunCommandLine(std::span<const std::string> args, Console& console) {
  GlobalArgs globals;
  RS_ASSIGN_OR_RETURN(std::vector<std::string> rest, ParseGlobals(args, globals));
  console.Configure(globals.console);
  if (globals.version || globals.help || rest.empty()) {
    console.Print(globals.version ? ToolVersion() + "\n" : OverviewHelp(console));
    return ExitCode::kClean;
  }
  RS_ASSIGN_OR_RETURN(const Command* const command, TakeCommand(rest));
  const BoundCommand bound = BindCommand(*command, globals);
  RS_ASSIGN_OR_RETURN(const bool run, ParseOptions(*bound.app, *command, rest));
  console.Configure(globals.console);
  if (run) return RunBody(bound, console);
  const HelpSize size = Contains(rest, "--help") ? HelpSize::kAll : HelpSize::kScreen;
  console.Print(CommandHelp(*command, console, size));
  return ExitCode::kClean;
}

}  // namespace

int RunApp(std::span<const std::string> args, Streams& streams) {
  Console console(streams);
  return StatusOf(RunCatching([&] { return RunCommandLine(args, console); }, console), console);
}

}  // namespace ringscope
