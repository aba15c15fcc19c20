#include "core/gaps/gaps.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "commands/common/each_log.h"
#include "commands/common/gaps_logs.h"
#include "commands/common/log_list.h"
#include "commands/common/replay_run.h"
#include "commands/gaps/gap_filter_options.h"
#include "commands/gaps/gaps_json.h"
#include "commands/gaps/gaps_text.h"
#include "commands/gaps/shown_gaps.h"
#include "commands/report/json.h"
#include "commands/shell/commands.h"
#include "commands/shell/options.h"
#include "commands/shell/output.h"
#include "core/gaps/gap_filter.h"

namespace ringscope {
namespace {

struct GapsArgs {
  LogChoices logs;
  ReplayChoices choices;
  GapFilter filter;
  bool summary = false;           // only the totals
  bool packets = false;           // each lost packet
  std::optional<uint64_t> limit;  // gaps to list, the largest; 0: all
  uint64_t stale_ns = 5'000'000'000;
  std::string format = "text";
  std::optional<uint64_t> session;
};

void SetUp(CLI::App& app, GapsArgs& args) {
  AddLogList(app, args.logs);
  AddSession(app, args.session);
  AddReplayOptions(app, args.choices);
  AddSplitOption(app, args.choices.splits);
  AddGapFilter(app, args.filter);
  InGroup(app, kOutputGroup);
  AddFlag(app, "--summary", args.summary, "Print only the totals of buffers and sequences");
  AddFlag(app, "--packets", args.packets,
          "List each lost packet, as soon as its fate is final, instead of the gaps; not with "
          "--format json");
  Exclude(app, "--packets", {"--summary"});
  AddParsed(
      app, "--limit", args.limit,
      [](std::string_view text) { return ParseNumber(text, UINT64_MAX); }, "N",
      "List at most the N largest gaps; 0: all (default: 20 as text, else all)");
  AddParsed(app, "--stale", args.stale_ns, ParseDuration, "TIME",
            "Report packets that are committed later than this after their timestamp (default: "
            "5s)");
  AddFormat(app, args.format, {"text", "json", "jsonl", "csv"});
}

Status Check(const GapsArgs& args) {
  if (!args.packets || args.format != "json") return {};
  return Fail(ErrorCode::kUsage, "--packets and --format json cannot be used together", {},
              "--format jsonl prints one packet per line");
}

/// Hands accounts on, and prints those of lost packets that the filter keeps.
class LostPacketList : public LedgerSink {
 public:
  LostPacketList(const GapsArgs& args, const SessionNotes& notes, uint64_t session,
                 Console& console, LedgerSink& next)
      : args_(args), notes_(notes), session_(session), console_(console), next_(next) {}

  void OnPacketFate(const PacketAccount& account) override {
    next_.OnPacketFate(account);
    if (!args_.packets || !IsLoss(account.fate)) return;
    if (!args_.filter.Keeps(account, notes_.start_ns())) return;
    listed_ = true;
    if (args_.format == "jsonl")
      console_.Print(LostPacketJsonl(account, session_));
    else if (args_.format == "csv")
      console_.Print(LostPacketCsv(account, session_));
    else
      console_.Print(LostPacketLine(account, notes_));
  }
  void OnDuplicate(const PacketAccount& account) override { next_.OnDuplicate(account); }

  bool listed() const { return listed_; }

 private:
  const GapsArgs& args_;
  const SessionNotes& notes_;
  const uint64_t session_;
  Console& console_;
  LedgerSink& next_;
  bool listed_ = false;
};

void Print(const GapsArgs& args, const ShownGaps& selection, Console& console, Json& document) {
  if (args.format == "json")
    document["sessions"].push_back(GapsJson(selection, args.summary));
  else if (args.format == "jsonl")
    PrintGapsJsonl(console, selection, args.summary);
  else if (args.format == "csv")
    PrintGapsCsv(console, selection);
  else
    PrintGaps(console, selection, args.summary, args.stale_ns);
}

/// Reports on the session that `sessions` stands at. @return whether it lost anything
Result<bool> ReportSession(const GapsArgs& args, SessionReader& sessions, Context& context,
                           Json& document) {
  SessionNotes notes;
  GapAnalysis analysis(args.stale_ns);
  LostPacketList accounts(args, notes, sessions.session(), context.console, analysis);
  std::map<BufferId, LedgerTotals> totals;
  RS_ASSIGN_OR_RETURN(
      const ReplayOutcome outcome,
      ReplaySession(context, sessions, args.choices,
                    {.accounts = &accounts, .totals = &totals, .listeners = {&notes, &analysis}}));
  if (args.packets) return accounts.listed();
  const GapReport report = analysis.Finish(totals);
  const uint64_t limit = args.limit.value_or(args.format == "text" ? 20 : 0);
  const ShownGaps selection(report, outcome, notes, args.filter, limit);
  Print(args, selection, context.console, document);
  return selection.any_loss;
}

}  // namespace

namespace {

Result<ExitCode> ReportInFull(const GapsArgs& args, const std::vector<std::string>& logs,
                              Context& context) {
  SessionReader sessions(context, {logs, args.session}, "replaying");
  Json document = JsonDocument("gaps");
  document["sessions"] = Json::array();
  if (args.format == "csv")
    context.console.Print(args.packets ? kLostPacketsCsvTitles : kGapsCsvTitles);

  bool lost = false;
  RS_ASSIGN_OR_RETURN(bool more, sessions.NextSession());
  for (bool first = true; more; first = false) {
    if (!first && args.format == "text" && !args.packets) context.console.Print("\n");
    RS_ASSIGN_OR_RETURN(const bool lost_here, ReportSession(args, sessions, context, document));
    lost |= lost_here;
    RS_ASSIGN_OR_RETURN(more, sessions.NextSession());
  }
  if (args.format == "json") context.console.Print(JsonText(document));
  return Worse(sessions.Finish(), lost ? ExitCode::kNotice : ExitCode::kClean);
}

/// Each log for itself, on all cores.
Result<ExitCode> ReportEach(const GapsArgs& args, const std::vector<std::string>& logs,
                            Context& context) {
  if (args.packets || (args.format != "text" && args.format != "json")) {
    return Fail(ErrorCode::kUsage,
                "a report on many logs has one line for each: as text or json, without --packets",
                {}, "name one log, without --each and --shard");
  }
  std::vector<LogResult> results(logs.size());
  const auto task = [&](size_t index, const std::string& log, Context& own) -> Result<ExitCode> {
    GapsArgs one = args;
    one.format = "json";
    one.summary = true;
    SessionReader sessions(own, {{log}, args.session}, "replaying");
    Json document = {{"sessions", Json::array()}};
    bool lost = false;
    RS_ASSIGN_OR_RETURN(bool more, sessions.NextSession());
    while (more) {
      RS_ASSIGN_OR_RETURN(const bool lost_here, ReportSession(one, sessions, own, document));
      lost |= lost_here;
      RS_ASSIGN_OR_RETURN(more, sessions.NextSession());
    }
    results[index].sessions = std::move(document["sessions"]);
    return Worse(sessions.Finish(), lost ? ExitCode::kNotice : ExitCode::kClean);
  };
  const std::vector<LogStatus> statuses = RunEachLog(context, logs, "replaying", task);
  for (size_t i = 0; i < logs.size(); ++i) results[i].status = statuses[i];
  if (args.format == "json")
    context.console.Print(JsonText(GapsLogsJson(results)));
  else
    PrintGapsLogs(context.console, results);
  return WorstOf(statuses);
}

Result<ExitCode> RunGaps(const GapsArgs& args, Context& context) {
  RS_RETURN_IF_ERROR(Check(args));
  RS_ASSIGN_OR_RETURN(const LogList logs, ExpandLogs(context, args.logs));
  // Several logs that only happen to stand side by side can still be listed in full.
  const bool wants_list = args.packets || (args.format != "text" && args.format != "json");
  if (logs.each && (logs.each_asked || !wants_list)) return ReportEach(args, logs.paths, context);
  return ReportInFull(args, logs.paths, context);
}

}  // namespace

Command GapsCommand() {
  return {
      "gaps",
      "Explain",
      "Report what was lost, to what, and what would have saved it",
      "Replays like 'ringscope replay', accounts for every packet that was written, and reports "
      "the missing ones, gap by gap: their content, the cause of the loss, which sequences evicted "
      "them, what the trace shows of it, and what would have saved them. Losses through buffer "
      "bugs come first. Also reports flags without a loss, packets that need lost incremental "
      "state, losses of the kernel's ftrace, and stale packets.",
      {{"ringscope gaps session.tblog", "What is missing, and why?"},
       {"ringscope gaps --seq 2:17 --from 1.2s session.tblog",
        "What did this writer lose from then on?"},
       {"ringscope gaps --size 16MiB session.tblog", "Would a larger buffer lose less?"},
       {"ringscope gaps --packets --format jsonl session.tblog",
        "Each lost packet, with its culprit"},
       {"ringscope gaps captures/", "Which of these logs lost anything?"}},
      Bind(SetUp, RunGaps),
      {.clean = "Done; no packet that the filters select was lost.",
       .notice = "Done, and packets were lost; or the input was damaged and what could be read was "
                 "used."}};
}

}  // namespace ringscope
