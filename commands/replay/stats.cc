#include <optional>
#include <string>
#include <vector>

#include "commands/common/readers.h"
#include "commands/common/replay_run.h"
#include "commands/common/session_loop.h"
#include "commands/replay/stats_report.h"
#include "commands/shell/commands.h"
#include "commands/shell/options.h"
#include "core/session/trace_processor_stats.h"

namespace ringscope {
namespace {

struct StatsArgs {
  std::vector<std::string> logs;
  ReplayChoices choices;
  bool data_loss = false;  // only what is a loss, by trace processor's definitions
  std::string format = "text";
  std::optional<uint64_t> session;
  std::optional<uint64_t> clone;
};

void SetUp(CLI::App& app, StatsArgs& args) {
  AddLogs(app, args.logs);
  AddSession(app, args.session);
  AddClone(app, args.clone);
  AddReplayOptions(app, args.choices);
  InGroup(app, kOutputGroup);
  AddFlag(app, "--data-loss", args.data_loss,
          "Print only counters that are not zero and that trace processor counts as a data loss");
  AddFormat(app, args.format, {"text", "json", "csv"});
}

Table LossTable() {
  return Table({DataColumn("session", kInCsv),
                {"name", Align::kLeft, "name"},
                {"idx", Align::kRight, "idx"},
                DataColumn("severity"),
                {"value", Align::kRight, "value"},
                {"meaning", Align::kLeft, "meaning", kInText | kInJson}});
}

/// Rows of trace processor's table: all, or only the losses.
Table RowsOf(const ReplayOutcome& outcome, bool data_loss) {
  Table table = LossTable();
  for (const StatRow& row : TraceProcessorStats(outcome)) {
    if (data_loss && (!row.is_data_loss() || row.value == 0)) continue;
    table.AddRow({DataCell(outcome.session), NameCell(row.name),
                  row.index ? NumberCell(*row.index) : Cell(""), DataCell(Name(row.severity)),
                  CountCell(row.value), NameCell(row.meaning)});
  }
  return table;
}

Result<ExitCode> RunStats(const StatsArgs& args, Context& context) {
  SessionReader sessions(context, {args.logs, args.session, args.clone}, "replaying");
  Report report(context.console, args.format, "stats");
  const bool is_csv = args.format == "csv";
  if (is_csv) report.Print(LossTable().CsvTitles());
  const auto task = [&]() -> Result<ExitCode> {
    RS_ASSIGN_OR_RETURN(
        const ReplayOutcome outcome,
        ReplaySession(context, sessions, args.choices, {.histograms = !args.data_loss}));
    const Table rows = RowsOf(outcome, args.data_loss);
    if (is_csv) {
      report.Print(rows.CsvRows());
    } else {
      ReportReplayTitle(report, outcome);
      report.Data({{"input", outcome.path}, {"session", outcome.session}});
      if (!args.data_loss) {
        ReportStats(report, outcome);
        RS_RETURN_IF_ERROR(ReportReaders(report, context, args.logs, outcome, args.choices, {}));
        return ExitCode::kClean;
      }
      report.Data("data_loss", rows.ToJson());
      report.Section("", rows);
      if (rows.empty()) report.Print("No data loss.\n");
      RS_RETURN_IF_ERROR(ReportReaders(report, context, args.logs, outcome, args.choices, {}));
    }
    return args.data_loss && !rows.empty() ? ExitCode::kNotice : ExitCode::kClean;
  };
  RS_ASSIGN_OR_RETURN(const ExitCode code, ReportSessions(sessions, report, task));
  RS_RETURN_IF_ERROR(report.Finish());
  return code;
}

}  // namespace

Command StatsCommand() {
  return {
      "stats",
      "Replay",
      "Replay a log and print all counters, or only the losses",
      "Replays like 'ringscope replay' and prints the counters of the buffers, the service and the "
      "writers. With --data-loss: only those that trace processor's stats table counts as a data "
      "loss, with its names and what each means; buffers are then numbered by their position in "
      "the trace config, from 0.",
      {{"ringscope stats session.tblog", "All counters, buffers side by side"},
       {"ringscope stats --data-loss session.tblog", "Did this session lose anything, and why?"},
       {"ringscope stats --data-loss --size 64MiB session.tblog",
        "Would a larger buffer have helped?"}},
      Bind(SetUp, RunStats),
      {.notice = "Done, and --data-loss found a loss; or the input was damaged and what could be "
                 "read was used."}};
}

}  // namespace ringscope
