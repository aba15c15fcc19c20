#ifndef RINGSCOPE_COMMANDS_OPTIONS_H_
#define RINGSCOPE_COMMANDS_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/cli_fwd.h"
#include "core/result.h"

namespace ringscope {

// Options as the commands declare them. Each option's type name is what help shows behind it
// ("SIZE", "table|json"); completions read choices and files from it.

/// What may stand in an output option.
inline constexpr const char* kFileType = "FILE";
/// What may stand for an input log.
inline constexpr const char* kLogType = "LOG";

enum class Need : uint8_t { kOptional, kRequired };

// Options and positional arguments, by their names: "-o,--output", or "LOG".
void AddFlag(CLI::App& app, const std::string& names, bool& target, const std::string& description);
void AddText(CLI::App& app, const std::string& names, std::string& target, const std::string& type,
             const std::string& description, Need need = Need::kOptional);
/// @param most values; 0: any number
void AddTexts(CLI::App& app, const std::string& names, std::vector<std::string>& targets,
              const std::string& type, const std::string& description, Need need = Need::kOptional,
              int most = 0);
struct NumberRange {
  int first = 0;
  int last = 0;
};
void AddNumber(CLI::App& app, const std::string& names, int& target, NumberRange range,
               const std::string& type, const std::string& description);

/// Takes a value as it stands on the command line, or says why it does not.
using TakeValue = std::function<Status(const std::string& text)>;

void AddTaken(CLI::App& app, const std::string& names, TakeValue take, const std::string& type,
              const std::string& description, Need need = Need::kOptional);
/// The same for an option that may be given several times; each use takes one value.
void AddTakenList(CLI::App& app, const std::string& names, TakeValue take, const std::string& type,
                  const std::string& description);

/// An option whose value `parse` (string_view to Result<T>) reads into `target`, T or optional<T>.
template <typename Target, typename Parse>
void AddParsed(CLI::App& app, const std::string& names, Target& target, Parse parse,
               const std::string& type, const std::string& description) {
  const auto take = [&target, parse](const std::string& text) -> Status {
    RS_ASSIGN_OR_RETURN(target, parse(text));
    return {};
  };
  AddTaken(app, names, take, type, description);
}

/// The same for an option that may be given several times; each use takes one value.
template <typename T, typename Parse>
void AddParsedList(CLI::App& app, const std::string& names, std::vector<T>& targets, Parse parse,
                   const std::string& type, const std::string& description) {
  const auto take = [&targets, parse](const std::string& text) -> Status {
    RS_ASSIGN_OR_RETURN(T value, parse(text));
    targets.push_back(std::move(value));
    return {};
  };
  AddTakenList(app, names, take, type, description);
}

/// An option with a fixed set of values; help and completions list them.
void AddChoice(CLI::App& app, const std::string& names, std::string& target,
               const std::vector<std::string>& choices, const std::string& description,
               Need need = Need::kOptional);

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
