#ifndef RINGSCOPE_COMMANDS_SHELL_OPTIONS_H_
#define RINGSCOPE_COMMANDS_SHELL_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/shell/command.h"
#include "commands/shell/values.h"
#include "core/base/result.h"
#include "core/log/record_filter.h"
#include "formats/inputs/input_kind.h"
#include "formats/io/output_file.h"

namespace ringscope {

/// Types of values that name a file.
inline constexpr const char* kFileType = "FILE";
inline constexpr const char* kLogType = "LOG";
inline constexpr const char* kLogOrTraceType = "LOG|TRACE";

// Headings of options in help and man pages. A command may have others.
inline constexpr const char* kInputGroup = "Input";
inline constexpr const char* kReplayGroup = "Replay";
inline constexpr const char* kFilterGroup = "Filter";
inline constexpr const char* kOutputGroup = "Output";
inline constexpr const char* kGlobalGroup = "Global options";
/// Puts the options that are added from here on under a heading.
void InGroup(CLI::App& app, const std::string& heading);

/// `option` cannot be used with any of `others`: all are added, and by long or positional names.
void Exclude(CLI::App& app, const std::string& option, std::initializer_list<const char*> others);

/// An option is given at most once, must be given, or is given any number of times.
enum class Need : uint8_t { kOptional, kRequired, kRepeated };

// Options and positional arguments, by their names: "-o,--output", or "LOG".
void AddFlag(CLI::App& app, const std::string& names, bool& target, const std::string& description);
void AddText(CLI::App& app, const std::string& names, std::string& target, const std::string& type,
             const std::string& description, Need need = Need::kOptional);
/// @param most values; 0: any number
void AddTexts(CLI::App& app, const std::string& names, std::vector<std::string>& targets,
              const std::string& type, const std::string& description, Need need = Need::kOptional,
              int most = 0);
struct NumberRange {
  int first = 0, last = 0;
};
void AddNumber(CLI::App& app, const std::string& names, int& target, NumberRange range,
               const std::string& type, const std::string& description);

/// Takes a value as it is on the command line, or returns why it is refused.
using TakeValue = std::function<Status(const std::string& text)>;
void AddTaken(CLI::App& app, const std::string& names, TakeValue take, const ValueType& type,
              const std::string& description, Need need = Need::kOptional);

/// An option whose value `parse` (string_view to Result<T>) reads into `target`, T or optional<T>.
template <typename Target, typename Parse>
void AddParsed(CLI::App& app, const std::string& names, Target& target, Parse parse,
               const ValueType& type, const std::string& description, Need need = Need::kOptional) {
  const auto take = [&target, parse](const std::string& text) -> Status {
    RS_ASSIGN_OR_RETURN(target, parse(text));
    return {};
  };
  AddTaken(app, names, take, type, description, need);
}

/// An option that may be given several times; each use takes one value.
template <typename T, typename Parse>
void AddParsedList(CLI::App& app, const std::string& names, std::vector<T>& targets, Parse parse,
                   const ValueType& type, const std::string& description) {
  const auto take = [&targets, parse](const std::string& text) -> Status {
    RS_ASSIGN_OR_RETURN(T value, parse(text));
    targets.push_back(std::move(value));
    return {};
  };
  AddTaken(app, names, take, type, description, Need::kRepeated);
}

/// An option whose comma-separated values, each read by `parse` (string_view to Result<T>), are
/// added to those of its earlier uses.
template <typename T, typename Parse>
void AddCommaList(CLI::App& app, const std::string& names, std::vector<T>& targets, Parse parse,
                  const ValueType& type, const std::string& description) {
  const auto take = [&targets, parse](const std::string& text) {
    return ForEachPart(text, [&](std::string_view part) -> Status {
      RS_ASSIGN_OR_RETURN(T value, parse(part));
      targets.push_back(std::move(value));
      return {};
    });
  };
  AddTaken(app, names, take, type, description, Need::kRepeated);
}

/// An option with a fixed set of values; help and completions list them.
void AddChoice(CLI::App& app, const std::string& names, std::string& target,
               const std::vector<std::string>& choices, const std::string& description,
               Need need = Need::kOptional);

/// --format, below "Output". Without it `target`, Format or optional<Format>, keeps its value.
template <typename Target>
void AddFormat(CLI::App& app, Target& target, const std::vector<Format>& formats,
               const std::string& description = "Format of the result (default: text)");
/// --force, below "Output": for the options that name files to write.
void AddForce(CLI::App& app, bool& target);
/// Traces in place of logs: doctor examines them, or the command itself takes them.
enum class Traces { kExamined, kTaken, kRefused };
/// The one log that a command reads, below "Input".
void AddLog(CLI::App& app, std::string& target);
/// The logs that a command reads, one after the other. @param most 0: any number
void AddLogs(CLI::App& app, std::vector<std::string>& targets, Traces traces = Traces::kRefused,
             int most = 0);
/// --seq, --buffer, --from and --to, below "Filter". @param what is selected by time: "records"
/// @param of_trace gets what names no sequence of a log; nullptr: that is an error
void AddSelection(CLI::App& app, LogSelection& selection, const std::string& what,
                  std::vector<std::string>* of_trace = nullptr);
/// --session and --clone, below "Input".
void AddSession(CLI::App& app, std::optional<uint64_t>& target);
void AddClone(CLI::App& app, std::optional<uint64_t>& target);

/// Opens a file that a command line names, or for "-" the run's standard input. A named pipe is
/// copied first: it can be read only once.
Result<std::unique_ptr<ByteSource>> OpenInput(Context& context, const std::string& path);
/// Copies an input, so that OpenInput opens the copy from now on.
Status KeepCopy(ByteSource& source, const std::string& path);
/// Copies standard input in this way, unless the run has a copy.
Status KeepStandardInput(Context& context);
/// Returns true for standard input, a pipe, and a file in them: no later command can read it.
bool IsStream(const std::string& path);
/// Opens an input, and finds its kind.
Result<KnownInput> OpenKnownInput(Context& context, const std::string& path);
/// Opens a trace or a log; of an archive or a folder, the only one in it.
Result<KnownInput> OpenOneInput(Context& context, const std::string& path);

/// A trace config that the user names, in protobuf's text format or as a binary message, plain or
/// compressed.
struct ConfigFile {
  std::string text;   // as it is, or of the message
  std::string bytes;  // the TraceConfig message
};

Result<ConfigFile> ReadConfigFile(Context& context, const std::string& path);
Result<ConfigFile> ReadConfigFile(std::unique_ptr<ByteSource> source);

inline constexpr OutputKind kReportOutput = {"a report", true};
/// A file that appears once it is whole, or for "-" the run's standard output, which is no terminal
/// if the output is not text.
/// @param force it may replace any file but an input; else see Replace::kOwn
Result<std::unique_ptr<OutputFile>> CreateOutput(Context& context, const std::string& path,
                                                 const OutputKind& kind, bool force);

/// Refuses names of other kinds of files than the one that is written.
/// @param what is written: "a page"; @param own what its names end with: ".html"
/// @return kUsage for names like "page.pdf"
Status CheckOutputName(const std::string& path, const char* what,
                       std::initializer_list<std::string_view> own);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_OPTIONS_H_
