#ifndef RINGSCOPE_COMMANDS_OPTIONS_H_
#define RINGSCOPE_COMMANDS_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/result.h"

namespace ringscope {

// Options as the commands declare them. Each option's type name is what help shows behind it
// ("SIZE", "table|json"); completions read choices and files from it.

/// What may stand in an output option.
inline constexpr const char* kFileType = "FILE";
/// What may stand for an input log.
inline constexpr const char* kLogType = "LOG";

/// Turns a refused value into CLI11's error, which names the option.
/// @throws CLI::ValidationError; caught where the command line is parsed
[[noreturn]] void ThrowBadValue(const std::string& option, const Error& error);

/// An option whose value `parse` (string_view to Result<T>) reads into `target`, T or optional<T>.
template <typename Target, typename Parse>
CLI::Option* AddParsed(CLI::App& app, const std::string& names, Target& target, Parse parse,
                       const std::string& type, const std::string& description) {
  CLI::Option* option = app.add_option_function<std::string>(
      names,
      [&target, parse, names](const std::string& text) {
        auto value = parse(text);
        if (!value) ThrowBadValue(names, value.error());
        target = std::move(*value);
      },
      description);
  return option->type_name(type);
}

/// The same for an option that may be given several times; each use takes one value.
template <typename T, typename Parse>
CLI::Option* AddParsedList(CLI::App& app, const std::string& names, std::vector<T>& targets,
                           Parse parse, const std::string& type, const std::string& description) {
  CLI::Option* option = app.add_option_function<std::vector<std::string>>(
      names,
      [&targets, parse, names](const std::vector<std::string>& texts) {
        for (const std::string& text : texts) {
          auto value = parse(text);
          if (!value) ThrowBadValue(names, value.error());
          targets.push_back(std::move(*value));
        }
      },
      description);
  return option->type_name(type)->allow_extra_args(false);
}

/// An option with a fixed set of values; help and completions list them.
CLI::Option* AddChoice(CLI::App& app, const std::string& names, std::string& target,
                       const std::vector<std::string>& choices, const std::string& description);

/// --format, with the first of `formats` as the default.
void AddFormat(CLI::App& app, std::string& target, const std::vector<std::string>& formats);
/// The one log that a command reads.
void AddLog(CLI::App& app, std::string& target);
/// The logs that a command reads, one behind the other.
void AddLogs(CLI::App& app, std::vector<std::string>& targets);
/// --session
void AddSession(CLI::App& app, std::optional<uint64_t>& target);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_OPTIONS_H_
