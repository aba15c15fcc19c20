#include "commands/stats.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "commands/json_output.h"
#include "commands/options.h"
#include "commands/output.h"
#include "commands/replay_report.h"
#include "commands/stats_report.h"
#include "commands/table.h"
#include "commands/text.h"
#include "commands/trace_processor_stats.h"

namespace ringscope {
namespace {

void SetUp(CLI::App& app, StatsArgs& args) {
  AddLogs(app, args.logs);
  AddReplayOptions(app, args.choices);
  AddFlag(app, "--data-loss", args.data_loss,
          "Only what is not zero and a loss of data, as trace processor defines it; exit "
          "status 3 if there is any");
  AddFormat(app, args.format, {"table", "json", "csv"});
  AddSession(app, args.session);
}

const char* Severity(const StatRow& row) { return row.is_data_loss ? "data_loss" : "info"; }

std::string IndexText(const StatRow& row) {
  return row.index ? std::to_string(*row.index) : std::string();
}

/// The rows to list: all, or only the losses.
std::vector<StatRow> SelectRows(const ReplayOutcome& outcome, bool data_loss) {
  std::vector<StatRow> rows = TraceProcessorStats(outcome);
  if (data_loss)
    std::erase_if(rows, [](const StatRow& row) { return !row.is_data_loss || row.value == 0; });
  return rows;
}

void PrintCsv(Console& console, const ReplayOutcome& outcome, const std::vector<StatRow>& rows) {
  for (const StatRow& row : rows) {
    console.Print(fmt::format("{},{},{},{},{}\n", outcome.session, row.name, IndexText(row),
                              Severity(row), row.value));
  }
}

void PrintLosses(Console& console, const ReplayOutcome& outcome, const std::vector<StatRow>& rows) {
  PrintReplayHeading(console, outcome);
  if (rows.empty()) {
    console.Print("No data loss.\n");
    return;
  }
  Table table({{"name", Align::kLeft},
               {"idx", Align::kRight},
               {"value", Align::kRight},
               {"meaning", Align::kLeft}});
  for (const StatRow& row : rows)
    table.AddRow({row.name, IndexText(row), WithCommas(row.value), row.meaning});
  console.Print("\n");
  table.Print(console);
}

Json LossesJson(const ReplayOutcome& outcome, const std::vector<StatRow>& rows) {
  Json json = {{"input", outcome.path}, {"session", outcome.session}};
  json["data_loss"] = Json::array();
  for (const StatRow& row : rows) {
    json["data_loss"].push_back({{"name", row.name},
                                 {"idx", row.index ? Json(*row.index) : Json()},
                                 {"severity", Severity(row)},
                                 {"value", row.value},
                                 {"meaning", row.meaning}});
  }
  return json;
}

}  // namespace

Result<ExitCode> RunStats(const StatsArgs& args, Context& context) {
  Console& console = context.console;
  SessionReader sessions(context, {args.logs, args.session}, "replaying");
  Json document = JsonDocument("stats");
  document["sessions"] = Json::array();
  bool lost = false;
  if (args.format == "csv") console.Print("session,name,idx,severity,value\n");

  RS_ASSIGN_OR_RETURN(bool more, sessions.NextSession());
  for (bool first = true; more; first = false) {
    RS_ASSIGN_OR_RETURN(
        const ReplayOutcome outcome,
        ReplaySession(context, sessions, args.choices, {.histograms = !args.data_loss}));
    const std::vector<StatRow> rows = SelectRows(outcome, args.data_loss);
    lost = lost || (args.data_loss && !rows.empty());
    if (args.format == "csv") {
      PrintCsv(console, outcome, rows);
    } else if (args.format == "json") {
      document["sessions"].push_back(args.data_loss ? LossesJson(outcome, rows)
                                                    : StatsJson(outcome));
    } else {
      if (!first) console.Print("\n");
      if (args.data_loss) {
        PrintLosses(console, outcome, rows);
      } else {
        PrintReplayHeading(console, outcome);
        PrintStats(console, outcome);
      }
    }
    RS_ASSIGN_OR_RETURN(more, sessions.NextSession());
  }
  if (args.format == "json") PrintJson(console, document);
  return Worse(sessions.Finish(), lost ? ExitCode::kNotice : ExitCode::kClean);
}

Command StatsCommand() {
  return {
      "stats",
      "Replay",
      "Replay a log and print all counters, or only the losses",
      "Replays like 'ringscope replay' and prints what the buffers, the service and the "
      "writers counted. With --data-loss only what trace processor's stats table calls a data "
      "loss, with its names, and what each means; buffers are then numbered as in the trace "
      "config: idx 0 is its first.",
      {{"ringscope stats session.tblog", "All counters, buffers side by side"},
       {"ringscope stats --data-loss session.tblog", "Did this session lose anything, and why?"},
       {"ringscope stats --data-loss --size 64MiB session.tblog",
        "Would a larger buffer have helped?"}},
      Bind(SetUp, RunStats)};
}

}  // namespace ringscope
