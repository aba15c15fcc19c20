#include "commands/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "commands/suggest.h"
#include "commands/values.h"

namespace ringscope {

void ThrowBadValue(const std::string& option, const Error& error) {
  // "-o,--output" is called by its last, long name.
  const size_t comma = option.rfind(',');
  const std::string name = comma == std::string::npos ? option : option.substr(comma + 1);
  throw CLI::ValidationError(name, error.ToString());
}

CLI::Option* AddChoice(CLI::App& app, const std::string& names, std::string& target,
                       const std::vector<std::string>& choices, const std::string& description) {
  const auto parse = [choices](std::string_view text) -> Result<std::string> {
    if (std::find(choices.begin(), choices.end(), text) != choices.end()) return std::string(text);
    return Fail(ErrorCode::kUsage, fmt::format("'{}' is none of its values", text), {},
                DidYouMean(text, choices, fmt::format("{}", fmt::join(choices, ", "))));
  };
  return AddParsed(app, names, target, parse, fmt::format("{}", fmt::join(choices, "|")),
                   description);
}

void AddFormat(CLI::App& app, std::string& target, const std::vector<std::string>& formats) {
  target = formats.front();
  AddChoice(app, "--format", target, formats,
            fmt::format("How to write the result (default: {})", formats.front()));
}

void AddLog(CLI::App& app, std::string& target) {
  app.add_option("LOG", target,
                 "A commit log (.tblog) or operations (.ops.jsonl), plain or zstd-compressed; "
                 "- reads standard input")
      ->type_name(kLogType)
      ->required();
}

void AddLogs(CLI::App& app, std::vector<std::string>& targets) {
  app.add_option("LOG", targets,
                 "Commit logs (.tblog) or operations (.ops.jsonl), plain or zstd-compressed, taken "
                 "one behind the other; - reads standard input")
      ->type_name(kLogType)
      ->required();
}

void AddSession(CLI::App& app, std::optional<uint64_t>& target) {
  const auto parse = [](std::string_view text) -> Result<uint64_t> {
    RS_ASSIGN_OR_RETURN(const uint64_t number, ParseNumber(text, UINT32_MAX));
    if (number == 0) return Fail(ErrorCode::kUsage, "sessions are numbered from 1");
    return number;
  };
  AddParsed(app, "--session", target, parse, "N",
            "Only the log's session N, counting from 1 (default: all, one after the other)");
}

}  // namespace ringscope
