#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/doctor/doctor_trace.h"
#include "commands/replays/further_replays.h"
#include "commands/shell/commands.h"
#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "commands/shell/values.h"
#include "core/base/wire.h"
#include "formats/inputs/input_kind.h"
#include "formats/inputs/log_parts.h"

namespace ringscope {
namespace {

struct DoctorArgs {
  std::vector<std::string> inputs;
  ReplayChoices choices;            // of logs; a config without an input is checked alone
  std::optional<uint64_t> session;  // of each input; absent: all
  std::optional<std::string> rule;  // only findings of this one
  bool all = false;                 // as text, all findings and what was checked
  bool brief = false;
  std::string format = "text";
};

Result<std::string> ParseRule(std::string_view text) {
  std::vector<std::string> ids;
  for (const Rule& rule : DoctorRules()) ids.emplace_back(rule.id);
  return ParseChoice(text, ids, "rule", "'man ringscope-doctor' lists the rules");
}

void SetUp(CLI::App& app, DoctorArgs& args) {
  InGroup(app, kInputGroup);
  AddTexts(
      app, "TRACE", args.inputs, "TRACE|LOG",
      "Perfetto traces, plain or compressed (zstd, gzip); zip archives of them, such as bug "
      "reports; commit logs (.tblog) or operations (.ops.jsonl); folders of all these; - reads "
      "standard input",
      Need::kOptional);
  AddConfig(
      app, args.choices.config,
      "Check this trace config, as text (.pbtxt), if no input is named; replay a log as if its "
      "session had had it; - reads standard input");
  AddSession(app, args.session);
  AddParsed(
      app, "--reads", args.choices.reads, ParseReads, kReadsType,
      "When to read the buffers of a log, as in 'ringscope replay': like=TRACE as the service "
      "did for that trace");
  InGroup(app, kOutputGroup);
  AddParsed(app, "--rule", args.rule, ParseRule, "RULE", "Report only what this rule finds");
  AddFlag(app, "--all", args.all,
          "Explain each finding; list what was checked, and print the trace's config with the "
          "changes, as text; of many traces, list all that have findings");
  AddFlag(app, "--brief", args.brief,
          "Print the answer alone, as text: what is wrong, why, and what to change, in about ten "
          "lines; 'ringscope FILE' does the same");
  Exclude(app, "--brief", {"--rule", "--all"});
  AddFormat(app, args.format, {"text", "json", "jsonl", "csv"});
}

/// Adds a file, or all traces and logs of a folder.
Status AddPath(const std::string& path, std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    paths.push_back(path);
    RunFiles::AddInput(path);
    return {};
  }
  const size_t before = paths.size();
  fs::recursive_directory_iterator entry(path, fs::directory_options::skip_permission_denied,
                                         error);
  for (const fs::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    const std::string name = entry->path().filename().string();
    if (entry->is_regular_file(ignored) &&
        (IsLogName(name) || IsTraceName(name) || name.ends_with(".zip")))
      paths.push_back(entry->path().lexically_normal().string());
  }
  if (error)
    return Fail(ErrorCode::kIo, fmt::format("cannot search the folder: {}", error.message()),
                {path, {}, {}});
  if (paths.size() == before)
    return Fail(ErrorCode::kCorrupt,
                "the folder has no traces: no .pftrace, .perfetto-trace, .zip, .tblog, .ops.jsonl",
                {path, {}, {}});
  for (size_t i = before; i < paths.size(); ++i) RunFiles::AddInput(paths[i]);
  return {};
}

/// The traces of an input, or an entry that has the error.
DoctorTraces ExamineOrNote(const DoctorArgs& args, Context& context, const std::string& path,
                           std::optional<Error>& error) {
  DoctorTraces traces;
  if (auto examined = ExamineInput(context, path, args.choices, args.session)) {
    traces = *std::move(examined);
  } else {
    error = std::move(examined).error();
    if (error->where.path.empty()) error->where.path = path;
    traces.push_back(UnreadableTrace(path, *error));
  }
  if (args.rule)
    for (DoctorTrace& trace : traces) KeepRule(trace, *args.rule);
  return traces;
}

/// Examines all inputs, on all cores, each on one thread. An input that fails does not stop the
/// others.
DoctorTraces ExamineAll(const DoctorArgs& args, const std::vector<std::string>& paths,
                        Context& context) {
  std::vector<DoctorTraces> results(paths.size());
  size_t done = 0;
  std::mutex mutex;  // of the messages and the progress
  Progress progress(context.console, fmt::format("examining {}", Count(paths.size(), "input")));
  TasksOnCores(context)(paths.size(), [&](size_t at) {
    KeptText out, err;
    Streams streams{out, err, {}, true};
    {
      Console console(streams);
      console.Configure({.color = ColorMode::kNever, .quiet = context.console.options().quiet});
      Context own{console, 1};
      std::optional<Error> error;
      try {
        results[at] = ExamineOrNote(args, own, paths[at], error);
      } catch (const std::exception& failed) {  // out of memory, mostly
        results[at] = {UnreadableTrace(
            paths[at],
            Error{ErrorCode::kLimit, fmt::format("cannot continue: {}", failed.what()), {}, {}})};
      }
    }
    const std::lock_guard lock(mutex);
    if (!err.text.empty()) {
      static_cast<void>(context.console.Flush());
      static_cast<void>(context.console.streams().err.Write(err.text));
    }
    progress.Update(++done, paths.size());
  });
  DoctorTraces traces;
  for (DoctorTraces& result : results) std::ranges::move(result, std::back_inserter(traces));
  return traces;
}

/// @param in_full each trace by itself; else a summary of many
Result<ExitCode> ReportTraces(const DoctorArgs& args, const DoctorTraces& traces, bool in_full,
                              Context& context) {
  Report report(context.console, args.format, "doctor");
  if (!report.is_text()) {
    RS_RETURN_IF_ERROR(WriteTraces(context.console, args.format, traces));
  } else if (!in_full) {
    PrintManyTraces(report, traces, args.all);
  } else {
    for (const DoctorTrace& trace : traces) {
      if (&trace != traces.data()) report.Print(args.brief ? "\n" : "\n\n");
      PrintTrace(report, trace, args.brief, args.all);
    }
  }
  return CodeOf(traces);
}

Result<ExitCode> ReportConfig(const DoctorArgs& args, Context& context) {
  RS_ASSIGN_OR_RETURN(const ConfigFile config, ReadConfigFile(context, args.choices.config));
  DoctorTraces traces = {DiagnosedConfig(args.choices.config, config)};
  if (args.rule) KeepRule(traces.front(), *args.rule);
  return ReportTraces(args, traces, /*in_full=*/true, context);
}

Result<ExitCode> RunDoctor(const DoctorArgs& args, Context& context) {
  if (args.inputs.empty() && !args.choices.config.empty()) return ReportConfig(args, context);
  if (args.inputs.empty())
    return Fail(ErrorCode::kUsage, "there is nothing to examine", {},
                "name a trace, or a trace config with --config");
  std::vector<std::string> paths;
  for (const std::string& path : args.inputs) RS_RETURN_IF_ERROR(AddPath(path, paths));
  paths = OnePathPerRecording(paths);
  if (paths.size() == 2 && args.choices.reads.like.empty()) {
    // A log and the trace that came out of it: each says what the other does not show.
    const bool is_first = IsLog(context, paths[0]);
    if (is_first != IsLog(context, paths[1])) {
      DoctorArgs both = args;
      both.choices.reads.like = paths[is_first ? 1 : 0];
      std::optional<Error> error;
      MutedContext muted(context);
      const DoctorTraces traces =
          ExamineOrNote(both, muted.context(), paths[is_first ? 0 : 1], error);
      if (!error) return ReportTraces(args, traces, /*in_full=*/true, context);
    }
  }
  if (paths.size() == 1) {
    std::optional<Error> error;
    const DoctorTraces traces = ExamineOrNote(args, context, paths.front(), error);
    if (error) return tl::unexpected<Error>(*std::move(error));
    return ReportTraces(args, traces, /*in_full=*/true, context);
  }
  std::ranges::sort(paths);
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  if (std::ranges::find(paths, "-") != paths.end())
    return Fail(ErrorCode::kUsage, "standard input cannot be one of several inputs", {},
                "give it alone");
  return ReportTraces(args, ExamineAll(args, paths, context), /*in_full=*/false, context);
}

}  // namespace

Command DoctorCommand() {
  return {
      "doctor",
      "Find what is wrong with a trace, and what to change",
      "Reads a Perfetto trace once, by the rules of trace processor, and reports what is wrong "
      "with it: a verdict first, then findings, the worst first, each with what, where, the cause, "
      "the proof, and the remedy as lines of the trace config; then what was checked without "
      "finding a problem. "
      "Also reads zip archives such as Android bug reports, each trace in them by itself, and "
      "logs, whose sessions are replayed. Several inputs are examined on all cores, "
      "and traces with the same findings share a row, the worst first.",
      {{"ringscope doctor trace.pftrace", "What is wrong with this trace, and what do I change?"},
       {"ringscope doctor bugreport.zip", "The same for each trace in a bug report"},
       {"ringscope doctor traces/", "What is wrong with all of these?"},
       {"ringscope doctor --rule buffer.overwritten --format csv traces/",
        "Which traces lost data to a full buffer?"},
       {"ringscope doctor --config trace.pbtxt", "Is this config likely to lose data?"},
       {"ringscope doctor session.tblog session.pftrace", "A log, read as its trace shows"},
       {"adb exec-out cat /data/misc/perfetto-traces/trace | ringscope doctor -",
        "A trace from standard input"}},
      Bind(SetUp, RunDoctor),
      {.clean = "Done; there is no warning and nothing worse.",
       .notice = "Done, and there is a warning, a loss or an error; or some of several traces "
                 "could not be read."}};
}

}  // namespace ringscope
