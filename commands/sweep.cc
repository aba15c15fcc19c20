#include "commands/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "commands/each_log.h"
#include "commands/json_output.h"
#include "commands/options.h"
#include "commands/plugin.h"
#include "commands/replay_run.h"
#include "commands/spooled_input.h"
#include "commands/sweep_logs.h"
#include "commands/sweep_run.h"
#include "commands/sweep_target.h"
#include "commands/text.h"

namespace ringscope {
namespace {

/// An option whose comma-separated values are added to those of its earlier uses.
template <typename T, typename Parse>
void AddList(CLI::App& app, const std::string& name, std::vector<T>& targets, Parse parse,
             const char* type, const char* description) {
  const auto take = [&targets, parse](const std::string& text) -> Status {
    RS_ASSIGN_OR_RETURN(const auto values, parse(text));
    targets.insert(targets.end(), values.begin(), values.end());
    return {};
  };
  AddTakenList(app, name, take, type, description);
}

void SetUp(CLI::App& app, SweepArgs& args) {
  AddLogList(app, args.logs);
  SweepChoices& choices = args.choices;
  AddParsedList(app, "--sizes", choices.sizes, ParseSizeList, "[BUFFER=]LIST",
                "Sizes to try, like 1M,2M,4M; 256k..64M doubles, 256k..64Mx1.5 takes 1.5 times "
                "(default: an eighth to eight times the log's own)");
  AddList(app, "--policies", choices.policies, ParsePolicyList, "LIST",
          "Fill policies to try: ring_buffer,discard (default: the log's)");
  AddList(app, "--reads", choices.reads, ParseReadsList, "LIST",
          "When to read: recorded, end, none, every=TIME, with commas between (default: recorded "
          "if the log has read passes, else end)");
  AddList(app, "--engines", choices.engines, ParseEngineList, "LIST",
          "Buffer versions to try, like v1,v2@57,v2, or paths of plug-ins (default: the log's, "
          "else v2)");
  AddParsed(app, "--pass-bytes", choices.pass_bytes, ParseSize, "SIZE",
            "Bytes after which a read pass stops (default: what the record says, else unlimited)");
  AddSplitOption(app, choices.splits);
  AddParsedList(app, "--target", args.targets, ParseTarget, "TARGET",
                "Find the smallest buffers that meet keep=TIME (every sequence reaches back that "
                "far) or loss=SHARE, like loss=0 or loss=0.1%");
  AddFlag(app, "--sequences", args.sequences, "List the sequences, those that reach back least");
  AddText(app, "--plot", args.plot, kFileType,
          "Draw loss and history against size into a picture (.svg) or a page (.html)");
  AddFormat(app, args.format, {"text", "json", "csv"});
  AddSession(app, args.session);
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

/// @param facts of the session; with a plan made blindly, those that reading it has told in the end
Result<SweepReport> SweepSession(const SweepArgs& args, const OpenSession& open,
                                 SessionFacts& facts, Context& context,
                                 const EngineLookup& find_engine) {
  if (!args.targets.empty())
    return FindTargets(context, open, std::move(facts), args.choices, args.targets, find_engine);
  SweepReport report;
  RS_ASSIGN_OR_RETURN(report.plan, MakePlan(args.choices, facts));
  std::vector<SweepConfig> configs;
  for (const SweepPoint& point : report.plan.points) configs.push_back(point.config);
  RS_ASSIGN_OR_RETURN(report.result, RunSweep(context, open, configs, find_engine));
  NameReads(facts, report.plan);
  report.facts = std::move(facts);
  return report;
}

}  // namespace

Result<ExitCode> SweepSessions(const SweepArgs& args, const std::vector<std::string>& logs,
                               Context& context,
                               const std::function<Status(const SweepReport&)>& visit) {
  std::unique_ptr<SpooledInput> spooled;
  if (std::find(logs.begin(), logs.end(), "-") != logs.end()) {
    RS_ASSIGN_OR_RETURN(spooled, SpooledInput::Read(context));
  }
  const EngineLookup find_engine = EnginesAndPlugins();
  const bool blindly = args.targets.empty() && PlansBlindly(args.choices);
  const auto sessions = std::make_shared<SessionReader>(
      context, SessionSelection{.paths = logs, .only = args.session},
      blindly ? "sweeping" : "reading");
  ExitCode code = ExitCode::kClean;
  RS_ASSIGN_OR_RETURN(bool more, sessions->NextSession());
  while (more) {
    const uint64_t number = sessions->session();
    SessionFacts facts;
    if (!blindly) {
      RS_ASSIGN_OR_RETURN(facts, ScanSession(*sessions, args.choices.splits));
    }
    bool first = blindly;
    const OpenSession open = [&]() -> Result<OpenedSession> {
      OpenedSession opened;
      if (std::exchange(first, false)) {
        // The facts come with the one pass over the log that is needed.
        opened.reader = sessions;
        opened.rewritten = std::make_unique<FactsSource>(*sessions, facts);
        return opened;
      }
      opened.reader = std::make_unique<SessionReader>(
          context, SessionSelection{.paths = logs, .only = number, .quiet = true}, "sweeping");
      RS_RETURN_IF_ERROR(opened.reader->NextSession());
      if (!args.choices.splits.empty())
        opened.rewritten = std::make_unique<SplitSource>(*opened.reader, args.choices.splits);
      return opened;
    };
    RS_ASSIGN_OR_RETURN(const SweepReport report,
                        SweepSession(args, open, facts, context, find_engine));
    WarnOfUnusedChoices(context.console, sessions->path(), args.choices, report.facts);
    const bool none_found =
        !report.found.empty() &&
        std::none_of(report.found.begin(), report.found.end(),
                     [](const FoundSize& found) { return found.point.has_value(); });
    if (none_found) code = ExitCode::kNotice;
    RS_RETURN_IF_ERROR(visit(report));
    RS_ASSIGN_OR_RETURN(more, sessions->NextSession());
  }
  return Worse(sessions->Finish(), code);
}

namespace {

/// The logs as one input: each session in full.
Result<ExitCode> SweepInFull(const SweepArgs& args, const std::vector<std::string>& logs,
                             Context& context) {
  std::unique_ptr<OutputFile> plot;
  if (!args.plot.empty()) {
    RS_ASSIGN_OR_RETURN(plot, OutputFile::Create(args.plot));
  }
  Json document = JsonDocument("sweep");
  document["sessions"] = Json::array();
  if (args.format == "csv") context.console.Print(kSweepCsvTitles);
  size_t sessions = 0;
  const auto print = [&](const SweepReport& report) -> Status {
    if (plot && sessions > 0) {
      return Fail(ErrorCode::kUsage, "the input has more than one session, and a plot shows one",
                  {report.result.path, {}, {}}, "choose one: --session 1");
    }
    if (args.format == "json") {
      document["sessions"].push_back(SweepJson(report, true));
    } else if (args.format == "csv") {
      PrintSweepCsv(context.console, SweepJson(report, false), report.result.path);
    } else {
      if (sessions > 0) context.console.Print("\n");
      PrintSweep(context.console, report, args.sequences);
    }
    ++sessions;
    if (!plot) return {};
    return plot->Write(args.plot.ends_with(".html") ? SweepHtml(report) : SweepSvg(report));
  };
  RS_ASSIGN_OR_RETURN(const ExitCode code, SweepSessions(args, logs, context, print));
  if (args.format == "json") PrintJson(context.console, document);
  if (plot) {
    RS_RETURN_IF_ERROR(plot->Commit());
    context.console.Say(fmt::format("wrote {}", plot->path()));
  }
  return code;
}

/// Each log for itself, on all cores.
Result<ExitCode> SweepEach(const SweepArgs& args, const std::vector<std::string>& logs,
                           Context& context) {
  if (!args.plot.empty()) {
    return Fail(ErrorCode::kUsage, "--plot shows one session, not many logs", {},
                "name one log, without --each and --shard");
  }
  const bool sequences = args.format == "json";
  const auto sweep = [&](const std::string& log, Context& own, Json& sessions) {
    return SweepSessions(args, {log}, own, [&](const SweepReport& report) -> Status {
      sessions.push_back(SweepJson(report, sequences));
      return {};
    });
  };
  Json document = JsonDocument(kSweepLogs);
  document["logs"] = RunEachLog(context, logs, "sweeping", sweep);
  document["totals"] = SweepTotals(document["logs"]);
  if (args.format == "json") {
    PrintJson(context.console, document);
  } else if (args.format == "csv") {
    context.console.Print(kSweepCsvTitles);
    for (const Json& log : document["logs"])
      for (const Json& session : log["sessions"])
        PrintSweepCsv(context.console, session, log["log"].get<std::string>());
    if (const std::string failures = FailuresText(document["logs"]); !failures.empty())
      context.console.Warn(failures.substr(0, failures.size() - 1));
  } else {
    PrintSweepLogs(context.console, document);
  }
  return WorstOf(document["logs"]);
}

}  // namespace

Result<ExitCode> RunSweepCommand(const SweepArgs& args, Context& context) {
  RS_RETURN_IF_ERROR(Check(args));
  RS_ASSIGN_OR_RETURN(const LogList logs, ExpandLogs(args.logs));
  return logs.each ? SweepEach(args, logs.paths, context) : SweepInFull(args, logs.paths, context);
}

Command SweepCommand() {
  return {
      "sweep",
      "Replay",
      "Compare what buffers of many sizes and kinds would have kept",
      "Takes a log through many configurations at once: sizes, fill policies, buffer versions, "
      "times of reading, and sequences moved to a buffer of their own. For each it tells what the "
      "buffers keep and lose, how far back they reach, and which sequence reaches back least. "
      "Each row equals what 'ringscope replay' gives for its configuration. With --target it "
      "looks for the smallest buffers that do what you want, and verifies them with a replay.",
      {{"ringscope sweep session.tblog", "From an eighth to eight times the log's own sizes"},
       {"ringscope sweep session.tblog --sizes 256k..64M --policies ring_buffer,discard",
        "Doubling sizes under both fill policies"},
       {"ringscope sweep session.tblog --target keep=30s", "How large for 30 seconds?"},
       {"ringscope sweep session.tblog --split 2:17=9 --sizes 9=64k,128k",
        "Would a buffer of its own for this sequence help?"},
       {"ringscope sweep session.tblog --plot sizes.html", "See it"},
       {"ringscope sweep --sizes 1M..64M captures/", "Which size would do for all of these?"}},
      Bind(SetUp, RunSweepCommand)};
}

}  // namespace ringscope
