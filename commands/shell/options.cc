#include "commands/shell/options.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <array>
#include <filesystem>

#include "core/base/lookup.h"
#include "formats/descriptors/descriptors.h"
#include "formats/inputs/open_log.h"
#include "formats/inputs/recording.h"
#include "formats/io/compressed_source.h"

namespace ringscope {
namespace {

/// Returns a parser that takes one of these words.
auto ParseOneOf(const std::vector<std::string>& choices) {
  return [choices](std::string_view text) {
    return ParseChoice(text, choices, "value", Joined(choices));
  };
}

/// Describes the inputs that a command line may name.
std::string LogsText(const char* log, const char* more, Traces traces) {
  return fmt::format(
      "{} (.tblog; of a recording in several parts, any of them) or operations (.ops.jsonl){}, "
      "plain or compressed (zstd, gzip){}; - reads standard input",
      log,
      traces == Traces::kExamined
          ? ", or a trace (.pftrace), a zip archive or a folder of traces, which doctor examines"
      : traces == Traces::kTaken ? ", or a trace (.pftrace), also the only one in a zip archive or "
                                   "a folder"
                                 : "",
      more);
}

/// A number from 1. @param what is numbered: "sessions"
auto ParseFromOne(const char* what) {
  return [what](std::string_view text) -> Result<uint64_t> {
    RS_ASSIGN_OR_RETURN(const uint64_t number, ParseNumber(text, UINT32_MAX));
    if (number == 0) return Fail(ErrorCode::kUsage, std::string(what) + " are numbered from 1");
    return number;
  };
}

/// Standard output in an OutputFile's place.
class ResultsFile : public OutputFile {
 public:
  explicit ResultsFile(Console& console) : OutputFile(-1, "-", {}), console_(console) {}
  using ByteSink::Write;
  Status Write(Bytes bytes) override { return console_.Write(bytes); }
  Status Commit() override { return console_.Flush(); }

 private:
  Console& console_;
};

/// @param found the traces and logs in a folder or an archive
Status ExpectOne(const std::vector<std::string>& found, const std::string& path) {
  if (found.size() == 1) return {};
  return Fail(ErrorCode::kCorrupt,
              found.empty() ? "there is no trace or log in it"
                            : fmt::format("it has {} traces or logs, expected one", found.size()),
              {path, {}, {}},
              found.empty()    ? ""
              : IsStream(path) ? "give it as a file, and name one of them"
                               : fmt::format("name one of them: {}", ShellWord(found.front())));
}

}  // namespace

void InGroup(CLI::App& app, const std::string& heading) { app.option_defaults()->group(heading); }

void Exclude(CLI::App& app, const std::string& option, std::initializer_list<const char*> others) {
  for (const char* other : others) app.get_option(option)->excludes(app.get_option(other));
}

void AddFlag(CLI::App& app, const std::string& names, bool& target,
             const std::string& description) {
  app.add_flag(names, target, description);
}

void AddText(CLI::App& app, const std::string& names, std::string& target, const std::string& type,
             const std::string& description, Need need) {
  CLI::Option* const option = app.add_option(names, target, description)
                                  ->type_name(type)
                                  ->required(need == Need::kRequired);
  if (type != kFileType) return;
  option->check([](const std::string& text) {
    return text.empty() ? std::string("a file needs a name, and this one is empty") : std::string();
  });
}

void AddTexts(CLI::App& app, const std::string& names, std::vector<std::string>& targets,
              const std::string& type, const std::string& description, Need need, int most) {
  CLI::Option* const option = app.add_option(names, targets, description)
                                  ->type_name(type)
                                  ->required(need == Need::kRequired);
  if (most > 0) option->expected(1, most);
}

void AddNumber(CLI::App& app, const std::string& names, int& target, NumberRange range,
               const std::string& type, const std::string& description) {
  app.add_option(names, target, description)
      ->type_name(type)
      ->check([range](const std::string& text) {
        return CLI::Range(range.first, range.last)(text).empty()
                   ? std::string()
                   : fmt::format("'{}' is not a number from {} to {}", text, range.first,
                                 range.last);
      });
}

void AddTaken(CLI::App& app, const std::string& names, TakeValue take, const ValueType& type,
              const std::string& description, Need need) {
  const std::string name = names.substr(names.rfind(',') + 1);  // the last one is the long one
  const CLI::callback_t taken = [take = std::move(take), name](const CLI::results_t& texts) {
    // CLI11's error is caught where the command line is parsed.
    for (const std::string& text : texts)
      if (const Status status = take(text); !status)
        throw CLI::ValidationError(name, status.error().ToString());
    return true;
  };
  CLI::Option* const option =
      app.add_option(names, taken, description)
          ->type_name(type.shown)
          ->default_str(Joined(type.choices, "|"))  // which OptionInfo has; a default is not used
          ->required(need == Need::kRequired);
  if (need == Need::kRepeated) option->expected(1, -1);  // at most: any number
}

void AddChoice(CLI::App& app, const std::string& names, std::string& target,
               const std::vector<std::string>& choices, const std::string& description, Need need) {
  AddParsed(app, names, target, ParseOneOf(choices), ValueType(choices), description, need);
}

template <typename Target>
void AddFormat(CLI::App& app, Target& target, const std::vector<Format>& formats,
               const std::string& description) {
  std::vector<std::string> names;
  for (const Format format : formats) names.emplace_back(Name(format));
  const std::function<Result<std::string>(std::string_view)> one_of = ParseOneOf(names);
  const auto parse = [one_of](std::string_view text) -> Result<Format> {
    RS_ASSIGN_OR_RETURN(const std::string name, one_of(text));
    return *FromName<Format>(name);
  };
  AddParsed(app, "--format", target, parse, ValueType(names), description);
  app.get_option("--format")->group(kOutputGroup);
}
template void AddFormat(CLI::App&, Format&, const std::vector<Format>&, const std::string&);
template void AddFormat(CLI::App&, std::optional<Format>&, const std::vector<Format>&,
                        const std::string&);

void AddForce(CLI::App& app, bool& target) {
  InGroup(app, kOutputGroup);
  AddFlag(app, "--force", target,
          "Replace the output file even if it is a log, or was not written by ringscope as such an "
          "output; inputs are never replaced");
}

void AddLog(CLI::App& app, std::string& target) {
  InGroup(app, kInputGroup);
  AddText(app, "LOG", target, kLogType, LogsText("A commit log", "", Traces::kRefused),
          Need::kRequired);
}

void AddLogs(CLI::App& app, std::vector<std::string>& targets, Traces traces, int most) {
  InGroup(app, kInputGroup);
  const std::string text = most == 1
                               ? LogsText("A commit log", "", traces)
                               : LogsText("Commit logs", ", taken one after the other", traces);
  AddTexts(app, "LOG", targets, traces == Traces::kRefused ? kLogType : kLogOrTraceType, text,
           Need::kRequired, most);
}

void AddSelection(CLI::App& app, LogSelection& selection, const std::string& what,
                  std::vector<std::string>* of_trace) {
  InGroup(app, kFilterGroup);
  const auto take_sequence = [&selection, of_trace](const std::string& text) -> Status {
    const Result<SequenceKey> sequence = ParseSequence(text);
    if (!sequence && of_trace == nullptr) return tl::unexpected(sequence.error());
    sequence ? selection.sequences.push_back(*sequence) : of_trace->push_back(text);
    return {};
  };
  AddTaken(app, "--seq", take_sequence, "PRODUCER:WRITER",
           of_trace == nullptr ? "Only this sequence; may be repeated"
                               : "Only this sequence; of a trace its id, or a part of its title, "
                                 "like a process; may be repeated",
           Need::kRepeated);
  AddParsedList(app, "--buffer", selection.buffers, ParseBuffer, "BUFFER",
                "Only this buffer, like buffers[1], or 1 by its id in the log; may be repeated");
  // The options come in any order: the later one is checked against the other.
  const auto take = [&selection](std::optional<TimePoint>& target) {
    return [&selection, &target](const std::string& text) -> Status {
      RS_ASSIGN_OR_RETURN(target, ParseTimePoint(text));
      const auto &from = selection.from, &to = selection.to;
      if (!from || !to || from->relative != to->relative || from->ns <= to->ns) return {};
      return Fail(ErrorCode::kUsage, "--from is later than --to, so nothing is selected", {},
                  "swap them");
    };
  };
  AddTaken(app, "--from", take(selection.from), "TIME",
           fmt::format("Only {} from this time on: since the session's start like 1.5s, or in "
                       "absolute nanoseconds",
                       what));
  AddTaken(app, "--to", take(selection.to), "TIME",
           fmt::format("Only {} up to this time, written as for --from", what));
}

void AddSession(CLI::App& app, std::optional<uint64_t>& target) {
  AddParsed(app, "--session", target, ParseFromOne("sessions"), "N",
            "Only session N, counted from 1: a recording's tracing sessions count one by one, also "
            "those at the same time (default: all)");
  app.get_option("--session")->group(kInputGroup);
}

void AddClone(CLI::App& app, std::optional<uint64_t>& target) {
  AddParsed(app, "--clone", target, ParseFromOne("clones"), "N",
            "Take what the holder of the session's clone N sees: its buffers, each up to the "
            "instant at which it was cloned (default: what the session's own consumer sees)");
  app.get_option("--clone")->group(kInputGroup);
}

Result<std::unique_ptr<OutputFile>> CreateOutput(Context& context, const std::string& path,
                                                 const OutputKind& kind, bool force) {
  if (path != "-") return OutputFile::Create(path, kind, ReplaceBy(force));
  if (!kind.is_text && context.console.out_is_terminal()) {
    return Fail(ErrorCode::kUsage, "will not write binary data to a terminal", {},
                "name a file, or send standard output to one");
  }
  return std::make_unique<ResultsFile>(context.console);
}

Status CheckOutputName(const std::string& path, const char* what,
                       std::initializer_list<std::string_view> own) {
  constexpr std::array<std::string_view, 18> kKnown = {
      ".csv", ".db",  ".dot",     ".gif", ".htm",    ".html", ".jpeg",  ".jpg", ".json",
      ".md",  ".pdf", ".pftrace", ".png", ".sqlite", ".svg",  ".tblog", ".txt", ".zip"};
  const std::string name = std::filesystem::path(path).extension().string();
  if (Contains(own, name) || !Contains(kKnown, name)) return {};
  return Fail(
      ErrorCode::kUsage,
      fmt::format("the output is {}, but '{}' is the extension of another format", what, name),
      {path, {}, {}}, fmt::format("name it {}", fmt::join(own, " or ")));
}

Result<std::unique_ptr<ByteSource>> OpenInput(Context& context, const std::string& path) {
  if (auto copy = RunFiles::CopyOf(path)) return OpenTemporary(std::move(copy), path);
  const auto& open_input = context.console.streams().open_input;
  auto source = path == "-" && open_input ? open_input() : OpenPath(path);
  std::error_code error;
  if (!source || !std::filesystem::is_fifo(path, error)) return source;
  RS_RETURN_IF_ERROR(KeepCopy(**source, path));
  return OpenInput(context, path);
}

Status KeepCopy(ByteSource& source, const std::string& path) {
  RS_ASSIGN_OR_RETURN(auto copy, SpoolInput(source));
  RunFiles::SetCopy(path, std::move(copy));
  return {};
}

Status KeepStandardInput(Context& context) {
  if (RunFiles::CopyOf("-")) return {};
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> input, OpenInput(context, "-"));
  return KeepCopy(*input, "-");
}

bool IsStream(const std::string& path) {
  std::error_code error;
  const bool is_member = !std::filesystem::exists(path, error);
  const std::string file = is_member ? path.substr(0, path.find(':')) : path;
  return file == "-" || file.starts_with("/dev/") || file.starts_with("/proc/") ||
         std::filesystem::is_fifo(file, error);
}

Result<KnownInput> OpenKnownInput(Context& context, const std::string& path) {
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenInput(context, path));
  return FindInputKind(std::move(source));
}

Result<KnownInput> OpenOneInput(Context& context, const std::string& path) {
  std::vector<std::string> paths;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
      const std::string name = entry.path().filename().string();
      if (IsTraceName(name) || IsLogName(name)) paths.push_back(entry.path().string());
    }
    paths = OnePathPerRecording(paths);
    RS_RETURN_IF_ERROR(ExpectOne(paths, path));
    return OpenOneInput(context, paths.front());
  }
  RS_ASSIGN_OR_RETURN(KnownInput input, OpenKnownInput(context, path));
  if (!IsArchive(input.start)) return input;
  RS_ASSIGN_OR_RETURN(const std::vector<ArchiveMember> members, MembersOf(std::move(input.source)));
  std::vector<const ArchiveMember*> found;
  for (const ArchiveMember& member : members) {
    if (!member.is_trace() && !member.is_log()) continue;
    paths.push_back(member.path);
    found.push_back(&member);
  }
  if (paths.empty()) return tl::unexpected<Error>(NoTraceIn(path, members));
  RS_RETURN_IF_ERROR(ExpectOne(paths, path));
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, found.front()->open());
  return FindInputKind(std::move(source));
}

Result<ConfigFile> ReadConfigFile(Context& context, const std::string& path) {
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenInput(context, path));
  return ReadConfigFile(std::move(source));
}

Result<ConfigFile> ReadConfigFile(std::unique_ptr<ByteSource> source) {
  constexpr size_t kMaxConfig = size_t{16} << 20;
  RS_ASSIGN_OR_RETURN(const std::string start, source->Peek(kKindBytes));
  if (auto unpacked = MakeSourceFor(wire::AsBytes(start), source)) source = std::move(unpacked);
  ConfigFile config;
  if (KindOfStart(start) == InputKind::kConfig) {
    RS_ASSIGN_OR_RETURN(config.bytes, ReadAll(*source, kMaxConfig));
    config.text = descriptors::Text("TraceConfig", wire::AsBytes(config.bytes));
    return config;
  }
  RS_ASSIGN_OR_RETURN(config.text, ReadText(*source, kMaxConfig, "a trace config",
                                            "expected protobuf's text format"));
  auto bytes = descriptors::Encode("TraceConfig", config.text, source->path());
  if (!bytes) {
    Error error = std::move(bytes).error();
    const bool is_unknown = error.message.find("has no field named") != std::string::npos;
    if (is_unknown && !error.hint.starts_with("did you mean"))
      error.hint = "a field of a later Perfetto can be left out, unless it is about buffers";
    const std::string before = config.text.substr(0, config.text.find('{'));
    if (before.starts_with("\xEF\xBB\xBF"))
      error.hint = "the text begins with a byte order mark: save it as UTF-8 without one";
    else if (before.find("<<") != std::string::npos)
      error.hint = "a shell command is around the config, which is what is between its EOF lines";
    else if (error.message.ends_with("found '/'"))
      error.hint = "comments begin with #";
    return tl::unexpected<Error>(std::move(error));
  }
  config.bytes = *std::move(bytes);
  return config;
}

}  // namespace ringscope
