#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/doctor/doctor_report.h"
#include "commands/doctor/examine.h"
#include "commands/many_logs/log_list.h"
#include "commands/shell/commands.h"
#include "commands/shell/config_file.h"
#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "commands/shell/values.h"
#include "core/base/wire.h"

namespace ringscope {
namespace {

struct DoctorArgs {
  LogChoices traces{.inputs = ListedInputs::kTraces};
  std::string config;               // checked alone; empty: traces are
  std::string descriptor;           // of fields in it
  std::optional<std::string> rule;  // only findings of this one
  uint64_t limit = 10;
  bool brief = false;
  std::string format = "text";
};

Result<std::string> ParseRule(std::string_view text) {
  std::vector<std::string> ids;
  for (const Rule& rule : DoctorRules()) ids.emplace_back(rule.id);
  if (std::ranges::find(ids, text) != ids.end()) return std::string(text);
  return Fail(ErrorCode::kUsage, fmt::format("there is no rule '{}'", text), {},
              DidYouMean(text, ids, "'man ringscope-doctor' lists the rules"));
}

void SetUp(CLI::App& app, DoctorArgs& args) {
  AddLogList(app, args.traces, "TRACE", {}, Need::kOptional);
  AddConfig(app, args.config, args.descriptor,
            "Check a trace config, as text (.pbtxt), instead of a trace; - reads standard input");
  Exclude(app, "--config", {"TRACE", "--each", "--shard"});
  Require(app, "--descriptor", "--config");
  InGroup(app, kOutputGroup);
  AddParsed(app, "--rule", args.rule, ParseRule, "RULE", "Report only what this rule finds");
  AddParsed(
      app, "--limit", args.limit,
      [](std::string_view text) { return ParseNumber(text, UINT64_MAX); }, "N",
      "List at most N findings of a trace, or N traces of many, as text; 0: all (default: 10)");
  AddFlag(app, "--brief", args.brief,
          "Print the answer alone, as text: what is wrong, why, and what to change, in about ten "
          "lines; 'ringscope FILE' does the same");
  Exclude(app, "--brief", {"--rule", "--limit"});
  AddFormat(app, args.format, {"text", "json", "jsonl", "csv"});
}

/// The traces of an input, or an entry that has the error.
DoctorTraces ExamineOrNote(const DoctorArgs& args, Context& context, const std::string& path,
                           std::optional<Error>& error) {
  DoctorTraces traces;
  if (auto examined = ExamineInput(context, path)) {
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

/// Sums over all traces, which are read on all cores.
Result<ExitCode> ReportSums(const DoctorArgs& args, const LogList& list, Context& context) {
  const std::vector<std::string>& paths = list.paths;
  std::vector<DoctorTraces> results(paths.size());
  const auto task = [&](size_t index, const std::string& path, Context& own) -> Result<ExitCode> {
    std::optional<Error> error;
    results[index] = ExamineOrNote(args, own, path, error);
    return CodeOf(results[index]);
  };
  RunEachLog(context, paths, "examining", task);
  DoctorTraces traces;
  for (DoctorTraces& result : results) std::ranges::move(result, std::back_inserter(traces));
  std::ranges::stable_sort(traces, {}, &DoctorTrace::file);
  return ReportLogs(context.console, args.format, traces, list.shards, args.limit);
}

/// All traces, one after the other.
Result<ExitCode> ReportInFull(const DoctorArgs& args, const std::vector<std::string>& paths,
                              Context& context) {
  Report report(context.console, args.format, "doctor");
  DoctorTraces all;
  for (const std::string& path : paths) {
    std::optional<Error> error;
    DoctorTraces traces = ExamineOrNote(args, context, path, error);
    if (error && paths.size() == 1) return tl::unexpected<Error>(*std::move(error));
    for (DoctorTrace& trace : traces) {
      if (report.is_text()) {
        if (!all.empty()) report.Print(args.brief ? "\n" : "\n\n");
        if (args.brief)
          PrintBrief(report, trace);
        else
          PrintTrace(report, trace, args.limit);
      }
      all.push_back(std::move(trace));
    }
  }
  if (!report.is_text()) RS_RETURN_IF_ERROR(WriteTraces(context.console, args.format, all));
  return CodeOf(all);
}

Result<ExitCode> ReportConfig(const DoctorArgs& args, Context& context) {
  RS_ASSIGN_OR_RETURN(const ConfigFile config,
                      ReadConfigFile(context, args.config, args.descriptor));
  DoctorTrace result = DiagnosedConfig(args.config, wire::AsBytes(config.bytes));
  if (args.rule) KeepRule(result, *args.rule);
  Report report(context.console, args.format, "doctor");
  if (report.is_text())
    PrintTrace(report, result, args.limit);
  else
    RS_RETURN_IF_ERROR(WriteTraces(context.console, args.format, {result}));
  return CodeOf(result);
}

Result<ExitCode> RunDoctor(const DoctorArgs& args, Context& context) {
  if (!args.config.empty()) return ReportConfig(args, context);
  if (args.traces.logs.empty())
    return Fail(ErrorCode::kUsage, "there is nothing to examine", {},
                "name a trace, or a trace config with --config");
  RS_ASSIGN_OR_RETURN(const LogList traces, ExpandLogs(context, args.traces));
  return traces.each ? ReportSums(args, traces, context)
                     : ReportInFull(args, traces.paths, context);
}

}  // namespace

Command DoctorCommand() {
  return {
      "doctor",
      "Explain",
      "Find what is wrong with a trace, and what to change",
      "Reads a Perfetto trace once, by the rules of trace processor, and reports what is wrong "
      "with it: a verdict first, then findings, the worst first, each with what, where, the cause, "
      "the proof, and the remedy as lines of the trace config; then what was checked without "
      "finding a problem. "
      "Also reads zip archives such as Android bug reports, each trace in them by itself, and "
      "logs, whose sessions are replayed. For folders and lists: which findings are frequent, and "
      "which traces are worst.",
      {{"ringscope doctor trace.pftrace", "What is wrong with this trace, and what do I change?"},
       {"ringscope doctor bugreport.zip", "The same for each trace in a bug report"},
       {"ringscope doctor traces/", "What is wrong with all of these?"},
       {"ringscope doctor --rule buffer.overwritten --format csv traces/",
        "Which traces lost data to a full buffer?"},
       {"ringscope doctor --config trace.pbtxt", "Is this config likely to lose data?"},
       {"adb exec-out cat /data/misc/perfetto-traces/trace | ringscope doctor -",
        "A trace from standard input"}},
      Bind(SetUp, RunDoctor),
      {.clean = "Done; there is no warning and nothing worse.",
       .notice = "Done, and there is a warning, a loss or an error; or some of several traces "
                 "could not be read."}};
}

}  // namespace ringscope
