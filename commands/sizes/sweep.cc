#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "commands/many_logs/log_list.h"
#include "commands/plugin/plugin.h"
#include "commands/replays/replay_run.h"
#include "commands/replays/session_loop.h"
#include "commands/replays/session_reads.h"
#include "commands/replays/verdict_words.h"
#include "commands/shell/commands.h"
#include "commands/shell/config_file.h"
#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "commands/shell/values.h"
#include "commands/sizes/sweep_logs.h"
#include "commands/sizes/sweep_report.h"
#include "commands/sizes/sweep_values.h"
#include "commands/threads/listener_thread.h"
#include "commands/threads/sweep_workers.h"
#include "core/sweep/kept_batches.h"
#include "core/sweep/run_points.h"
#include "core/sweep/sweep_target.h"
#include "formats/draw/svg.h"

namespace ringscope {
namespace {

/// Passes over the log, of a search: reading, the size needed and its trial, sizes, sizes between,
/// and the verification.
constexpr size_t kTargetSteps = 6;

struct SweepArgs {
  LogChoices logs;
  SweepChoices choices;
  std::string config;      // with the buffers of a log that lacks them; empty: none
  std::string descriptor;  // of fields in it
  std::vector<SweepTarget> targets;
  bool sequences = false;
  std::string plot;  // .svg or .html; empty: none
  bool force = false;
  std::string format = "text";
  std::optional<uint64_t> session;
  std::optional<uint64_t> clone;
};

void SetUp(CLI::App& app, SweepArgs& args) {
  AddLogList(app, args.logs);
  AddSession(app, args.session);
  AddClone(app, args.clone);
  InGroup(app, "Configurations");
  SweepChoices& choices = args.choices;
  AddParsedList(app, "--sizes", choices.sizes, ParseSizeList, "[BUFFER=]SIZE,...",
                "Sizes to try, like 1M,2M,4M; 256k..64M doubles, 256k..64Mx1.5 multiplies by 1.5 "
                "(default: an eighth to eight times the log's own)");
  AddCommaList(app, "--policies", choices.policies, ParsePolicyList, "ring_buffer|discard,...",
               "Fill policies to try (default: the log's)");
  AddCommaList(app, "--reads", choices.reads, ParseReadsList,
               "recorded|end|none|every=TIME|streamed|streamed=TIME,...",
               "When to read; streamed=TIME is what another file_write_period_ms would have done "
               "(default: recorded if the log has read passes, else streamed if the config has "
               "write_into_file, else end)");
  AddCommaList(
      app, "--engines", choices.engines, ParseEngineList, "ENGINE,...",
      "Buffer versions to try, like v1,v2@57,v2, or paths of plug-ins (default: the log's, "
      "else v2)");
  AddCommaList(app, "--protovm", choices.programs, ParseProgramsList, "on|off|SIZE,...",
               "Run the programs of data sources (ProtoVM): on, off, or with these memory limits "
               "instead of the config's (default: on)");
  AddParsed(app, "--pass-bytes", choices.pass_bytes, ParseSize, "SIZE",
            "Bytes after which a read pass stops (default: the limit in the record, else none)");
  AddConfig(app, args.config, args.descriptor, kConfigOfUnrecorded);
  Require(app, "--descriptor", "--config");
  AddSplitOption(app, choices.splits);
  AddParsedList(app, "--target", args.targets, ParseTarget, "TARGET",
                "Find the smallest buffers that meet keep=TIME (every sequence reaches back that "
                "far) or loss=SHARE, like loss=0 or loss=0.1%; may be repeated");
  InGroup(app, kOutputGroup);
  AddFlag(app, "--sequences", args.sequences,
          "Also list the sequences, those with the shortest history first");
  AddText(app, "--plot", args.plot, kFileType,
          "Draw loss and history by size, as a picture (.svg) or a page (.html)");
  AddForce(app, args.force);
  AddFormat(app, args.format, {"text", "json", "csv"});
}

Status Check(const SweepArgs& args) {
  if (!args.plot.empty() && !args.plot.ends_with(".svg") && !args.plot.ends_with(".html")) {
    return Fail(ErrorCode::kUsage,
                fmt::format("--plot {}: only .svg and .html can be drawn", args.plot), {},
                "name the file plot.svg or plot.html");
  }
  return args.targets.empty() ? Status{} : CheckTargetSizes(args.choices);
}

void WarnOfUnusedChoices(Console& console, const std::string& path, const SweepChoices& choices,
                         const SessionFacts& facts) {
  WarnOfUnusedSplits(console, path, facts.unused_splits);
  for (const SizeList& list : choices.sizes)
    if (list.buffer && !facts.buffers.contains(*list.buffer))
      console.Warn(fmt::format("{}: there is no buffer {}, so its sizes change nothing", path,
                               Raw(*list.buffer)));
}

/// @param facts of the session; if the plan needs none, the sweep's own reading adds them
/// @param needed whether the sizes with which nothing is lost are to be among those tried
Result<SweepReport> SweepSession(const SweepArgs& args, const SweepInput& input,
                                 SessionFacts& facts, bool needed) {
  if (!args.targets.empty())
    return FindTargets(input, std::move(facts), args.choices, args.targets);
  SweepReport report;
  RS_ASSIGN_OR_RETURN(report.plan, MakePlan(args.choices, facts));
  if (needed) {
    RS_RETURN_IF_ERROR(RunPointsAndNeeds(input, args.choices, facts, report));
  } else {
    RS_RETURN_IF_ERROR(RunPoints(input, report.plan.points.size(), report));
    NameReads(facts, report.plan);
  }
  report.facts = std::move(facts);
  return report;
}

/// Sweeps the sessions of logs that are taken one after the other.
/// @param visit gets each session's report
/// @param needed see SweepSession
Result<ExitCode> SweepSessions(const SweepArgs& args, const std::vector<std::string>& logs,
                               Context& context,
                               const std::function<Status(const SweepReport&)>& visit,
                               bool needed) {
  std::unique_ptr<SpooledInput> spooled;
  if (std::find(logs.begin(), logs.end(), "-") != logs.end()) {
    RS_ASSIGN_OR_RETURN(spooled, SpooledInput::Read(context));
  }
  ReplayChoices buffers;
  buffers.config = args.config;
  buffers.descriptor = args.descriptor;
  for (const SizeList& list : args.choices.sizes)
    if (list.buffer && !list.sizes.empty())
      buffers.session.buffers[*list.buffer].size = list.sizes.front();
  RS_ASSIGN_OR_RETURN(const UnrecordedBuffers unrecorded, UnrecordedOf(context, buffers));
  SweepInput input;
  input.find_engine = EnginesAndPlugins();
  input.run_replays = SweepThreads(context);
  input.run_tape = ListenerThreads(context);
  const bool blindly = args.targets.empty() && PlansBlindly(args.choices);
  context.console.PlanSteps(args.targets.empty() ? kSweepSteps : kTargetSteps);
  SessionReader sessions(context,
                         SessionSelection{.paths = logs, .only = args.session, .clone = args.clone},
                         blindly ? "sweeping" : "reading");
  return ForEachSession(sessions, [&]() -> Result<ExitCode> {
    const std::string path = sessions.path();
    const uint64_t number = sessions.session();
    input.clone = CloneOf(sessions, args.choices.splits);
    const std::optional<CloneView> view =
        sessions.clone() != nullptr ? std::optional(*sessions.clone()) : std::nullopt;
    SessionFacts facts;
    AddedBuffers records(sessions, unrecorded);
    if (!blindly) {
      RS_ASSIGN_OR_RETURN(facts, ScanSession(records, args.choices.splits));
    }
    bool first = blindly;
    input.open = [&]() -> Result<std::unique_ptr<OpSource>> {
      // One pass over the log is enough: it also collects the facts.
      if (std::exchange(first, false)) return std::make_unique<FactsSource>(records, facts);
      RS_ASSIGN_OR_RETURN(
          std::unique_ptr<OpSource> ops,
          OpenSession(context, {.paths = logs, .only = number, .quiet = true, .view = view},
                      "sweeping"));
      if (!unrecorded.empty()) ops = std::make_unique<AddedBuffers>(std::move(ops), unrecorded);
      if (args.choices.splits.empty()) return ops;
      return std::make_unique<RetargetSource>(std::move(ops), args.choices.splits, SweepRelease);
    };
    input.ahead = LookAheadIn(context, {.paths = logs, .only = number, .quiet = true},
                              StandardInput::kSpooled);
    KeptBatches kept;
    input.kept = &kept;
    std::set<std::string> warnings;
    input.warn = [&](const std::string& text) {
      if (warnings.insert(text).second)
        context.console.Warn(fmt::format("{}: {}", path, Printable(text)));
    };
    RS_ASSIGN_OR_RETURN(SweepReport report, InFile(path, SweepSession(args, input, facts, needed)));
    report.path = path;
    report.session = number;
    if (view) report.clone = view->clone;
    WarnOfInexact(context.console, path, report.result.verdicts);
    WarnOfUnusedChoices(context.console, sessions.path(), args.choices, report.facts);
    const bool none_found =
        !report.found.empty() &&
        std::none_of(report.found.begin(), report.found.end(),
                     [](const FoundSize& found) { return found.point.has_value(); });
    RS_RETURN_IF_ERROR(visit(report));
    return none_found ? ExitCode::kNotice : ExitCode::kClean;
  });
}

/// The logs as one input: each session in full.
Result<ExitCode> SweepInFull(const SweepArgs& args, const std::vector<std::string>& logs,
                             Context& context) {
  std::unique_ptr<OutputFile> plot;
  if (!args.plot.empty()) {
    RS_ASSIGN_OR_RETURN(plot, OutputFile::Create(args.plot, kPictureOutput, ReplaceBy(args.force)));
  }
  Report out(context.console, args.format, "sweep");
  Json document = Json::array();
  if (args.format == "csv") out.Print(SweepCsv().CsvTitles());
  size_t sessions = 0;
  const auto print = [&](const SweepReport& report) -> Status {
    if (plot && sessions > 0) {
      return Fail(ErrorCode::kUsage, "the input has more than one session, and a plot shows one",
                  {report.path, {}, {}}, "choose one: --session 1");
    }
    if (args.format == "text") {
      if (sessions > 0) out.Print("\n");
      PrintSweep(out, report, args.sequences);
    } else if (args.format == "json") {
      document.push_back(FieldsToJson(Swept(report, /*sequences=*/true)));
    } else {
      Table rows = SweepCsv();
      AddToCsv(Swept(report, /*sequences=*/false), report.path, rows);
      out.Print(rows.CsvRows());
    }
    ++sessions;
    if (!plot) return {};
    return plot->Write(args.plot.ends_with(".html") ? SweepHtml(report) : SweepSvg(report));
  };
  RS_ASSIGN_OR_RETURN(const ExitCode code,
                      SweepSessions(args, logs, context, print, /*needed=*/true));
  out.Data("sessions", std::move(document));
  RS_RETURN_IF_ERROR(out.Finish());
  if (plot) {
    RS_RETURN_IF_ERROR(plot->Commit());
    context.console.Say(fmt::format("wrote {}", plot->path()));
  }
  return code;
}

/// A line for each log; they are swept on all cores.
Result<ExitCode> SweepEach(const SweepArgs& args, const LogList& logs, Context& context) {
  if (!args.plot.empty()) {
    return Fail(ErrorCode::kUsage, "--plot shows one session, not many logs", {},
                "name one log, without --each and --shard");
  }
  if (args.sequences) {
    return Fail(ErrorCode::kUsage, "--sequences lists those of one log, not of many", {},
                "name one log, without --each and --shard; --format json has all sequences");
  }
  const auto task = [&](const std::string& log, Context& own, std::vector<SweptSession>& results) {
    return SweepSessions(
        args, {log}, own,
        [&](const SweepReport& report) -> Status {
          results.push_back(Swept(report, /*sequences=*/args.format == "json"));
          return {};
        },
        /*needed=*/false);
  };
  return ReportLogs(context.console, args.format,
                    CollectEachLog<SweptSession>(context, logs.paths, "sweeping", task),
                    logs.shards);
}

Result<ExitCode> RunSweepCommand(const SweepArgs& args, Context& context) {
  RS_RETURN_IF_ERROR(Check(args));
  RS_ASSIGN_OR_RETURN(const LogList logs, ExpandLogs(context, args.logs));
  return logs.each ? SweepEach(args, logs, context) : SweepInFull(args, logs.paths, context);
}

}  // namespace

Result<SweepReport> SweepOwnSizes(Context& context, const SessionSelection& selection) {
  SweepArgs args;
  args.session = selection.only;
  args.clone = selection.clone;
  SweepReport swept;
  const auto keep = [&](const SweepReport& report) -> Status {
    swept = report;
    return {};
  };
  RS_RETURN_IF_ERROR(SweepSessions(args, selection.paths, context, keep, /*needed=*/true));
  return swept;
}

Command SweepCommand() {
  return {
      "sweep",
      "Replay",
      "Compare what buffers of many sizes and kinds would have kept",
      "Replays a log with many configurations at once: sizes, fill policies, buffer versions, "
      "times of reading, and sequences moved to a separate buffer. For each it reports what the "
      "buffers keep and lose, how far back they reach, and which sequence has the shortest "
      "history. Each row equals the result of 'ringscope replay' with that configuration. With "
      "--target it finds the smallest buffers that meet a goal, and verifies them with a replay.",
      {{"ringscope sweep session.tblog", "From an eighth to eight times the log's own sizes"},
       {"ringscope sweep session.tblog --sizes 256k..64M --policies ring_buffer,discard",
        "Doubling sizes under both fill policies"},
       {"ringscope sweep session.tblog --target keep=30s",
        "How large must the buffers be for 30 seconds?"},
       {"ringscope sweep session.tblog --split 2:17=9 --sizes 9=64k,128k",
        "Would a separate buffer for this sequence help?"},
       {"ringscope sweep session.tblog --plot sizes.html", "Draw the result"},
       {"ringscope sweep --sizes 1M..64M captures/", "Which size is enough for all of these?"}},
      Bind(SetUp, RunSweepCommand),
      {.notice = "Done, and no size meets the target; or the input was damaged and what could be "
                 "read was used; or some of many logs failed.",
       .failed =
           "Failed, or all of many logs failed. The message reports where, what was expected, "
           "and what to do."}};
}

}  // namespace ringscope
