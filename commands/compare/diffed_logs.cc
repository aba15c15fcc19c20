#include "commands/compare/diffed_logs.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/shell/text.h"

namespace ringscope {
namespace {

bool AllSame(const DiffedLogs& logs) {
  return std::ranges::all_of(logs, [](const LogResult<DiffedSession>& log) {
    return std::ranges::all_of(log.sessions, &DiffedSession::same);
  });
}

void PrintTotals(Report& report, const DiffedLogs& logs, const std::vector<LogStatus>& statuses) {
  Table table({{"log"},
               {"session", Align::kRight},
               {"packets in both", Align::kRight},
               {"result", Align::kLeft}});
  const LogNames names = ShortNames(statuses);
  DiffCounts totals;
  uint64_t differing = 0, sessions = 0;
  for (size_t i = 0; i < logs.size(); ++i) {
    if (statuses[i].error) table.AddRow({names.names[i], "", "", "failed"});
    for (const DiffedSession& session : logs[i].sessions) {
      const DiffCounts& counts = session.counts;
      table.AddRow({names.names[i], std::to_string(session.session), WithCommas(counts.matched),
                    session.same ? "same" : CountsText(counts)});
      ++sessions;
      differing += !session.same;
      totals.matched += counts.matched;
      totals.across_order += counts.across_order;
      for (size_t kind = 0; kind < kDifferenceKinds; ++kind)
        totals.by_kind[kind] += counts.by_kind[kind];
    }
  }
  report.Print(table);
  report.Print("\n");
  report.Paragraph(fmt::format("{}, {} failed; {} of {} differ{}", names.Title(),
                               CountFailed(statuses), WithCommas(differing),
                               Count(sessions, "session"),
                               differing > 0 ? ": " + CountsText(totals) : ""));
  report.Print(FailuresText(statuses));
}

}  // namespace

DiffedLogs DiffedLogsFromJson(const Json& document) {
  const Json& sessions = document.at("sessions");
  auto next = sessions.begin();
  DiffedLogs logs;
  for (const Json& json : document.at("logs")) {
    LogResult<DiffedSession>& log = logs.emplace_back();
    JsonFieldReader reader(json);
    ListFields(reader, log.status);
    for (auto left = json.at("sessions").get<uint64_t>(); left > 0; --left) {
      if (next == sessions.end()) throw std::runtime_error("there are fewer sessions than the logs have");
      log.sessions.push_back(FieldsFromJson<DiffedSession>(*next));
      log.sessions.back().document = *next++;
    }
  }
  if (next != sessions.end()) throw std::runtime_error("there are more sessions than the logs have");
  return logs;
}

void ReportDiffedLogs(Report& report, const DiffedLogs& logs, const ShardsHeld& shards) {
  const std::vector<LogStatus> statuses = StatusesOf(logs);
  if (report.is_for_people()) PrintTotals(report, logs, statuses);
  report.Data({{"compares", "replays"}, {"same", AllSame(logs)}, {"logs", Json::array()}});
  for (const LogResult<DiffedSession>& log : logs) {
    report.AddItem("logs", [&] {
      report.Data(FieldsToJson(log.status));
      report.Data("sessions", log.sessions.size());
    });
    if (!log.status.error) continue;
    report.AddItem("failed", [&] {
      report.Data({{"log", log.status.log}, {"error", log.status.error}});
    });
  }
  ReportShards(report, shards);
  report.Data("sessions", Json::array());
}

Result<ExitCode> ReportLogs(Console& console, const std::string& format, const DiffedLogs& logs,
                            const ShardsHeld& shards) {
  Report report(console, format, kDiffDocument);
  ReportDiffedLogs(report, logs, shards);
  if (!AllSame(logs)) {
    report.Print("\n");
    report.Paragraph("What differs in each session is in the result as JSON: --format json.");
  }
  for (const LogResult<DiffedSession>& log : logs)
    for (const DiffedSession& session : log.sessions)
      report.AddItem("sessions", [&] { report.Data(session.document); });
  RS_RETURN_IF_ERROR(report.Finish());
  return shards.CodeWith(WorstOf(StatusesOf(logs)));
}

}  // namespace ringscope
