#include "commands/gaps/gaps_logs.h"

#include <fmt/format.h>

#include "commands/shell/text.h"

namespace ringscope {
namespace {

/// Sums over buffers and sessions, and over logs.
struct GapsSum {
  LedgerTotals totals;
  uint64_t sessions = 0;
  bool nothing_lost = true;
  bool reads_assumed = false;  // of a session
  std::string worst_sequence;
  uint64_t worst_packets = 0;

  void Add(const GapsSession& session) {
    ++sessions;
    nothing_lost &= session.nothing_lost;
    reads_assumed |= session.reads_assumed;
    for (const GapsBuffer& buffer : session.buffers) {
      totals.written += buffer.totals.written;
      totals.own_fault += buffer.totals.own_fault;
      for (size_t i = 0; i < kFates; ++i) totals.by_fate[i] += buffer.totals.by_fate[i];
    }
    for (const GapsSequence& sequence : session.sequences) {
      if (sequence.lost().packets <= worst_packets) continue;
      worst_packets = sequence.lost().packets;
      worst_sequence = ToString(sequence.sequence);
      if (!sequence.producer.empty())
        worst_sequence += fmt::format(" ({})", Printable(sequence.producer));
    }
  }
};

std::vector<Cell> Cells(const std::string& name, const GapsSum& sum) {
  const uint64_t written = sum.totals.written.packets, lost = sum.totals.lost().packets;
  const uint64_t overwritten = sum.totals[Fate::kOverwritten].packets;
  const uint64_t discarded = sum.totals[Fate::kDiscarded].packets;
  return {name,
          WithCommas(written),
          WithCommas(lost),
          ShareText(lost, written),
          WithCommas(overwritten),
          WithCommas(discarded),
          WithCommas(lost - overwritten - discarded),
          WithCommas(sum.totals.own_fault.packets),
          sum.worst_sequence};
}

}  // namespace

Result<ExitCode> ReportLogs(Console& console, const std::string& format, const GapsLogs& logs,
                            const ShardsHeld& shards) {
  Report report(console, format, kGapsLogs);
  const std::vector<LogStatus> statuses = StatusesOf(logs);
  const LogNames names = ShortNames(statuses);
  Table table({{"log", Align::kLeft},
               {"written", Align::kRight},
               {"lost", Align::kRight},
               {"", Align::kRight},
               {"overwritten", Align::kRight},
               {"discarded", Align::kRight},
               {"other", Align::kRight},
               {"buffer bug", Align::kRight},
               {"most lost by", Align::kLeft}});
  GapsSum all;
  uint64_t with_loss = 0, not_proven = 0;
  for (size_t i = 0; i < logs.size(); ++i) {
    GapsSum sum;
    for (const GapsSession& session : logs[i].sessions) {
      sum.Add(session);
      all.Add(session);
    }
    const bool lost = sum.totals.lost().packets > 0;
    with_loss += lost ? 1 : 0;
    not_proven += !lost && !sum.nothing_lost ? 1 : 0;
    table.AddRow(logs[i].status.error
                     ? std::vector<Cell>{names.names[i], "failed"}
                     : Cells(names.names[i] + (sum.reads_assumed ? "*" : ""), sum));
  }
  all.worst_sequence.clear();
  table.AddRow(Cells("all", all));
  report.Print(table);
  if (all.reads_assumed)
    report.Paragraph("* read at its end, as assumed: the log does not show when it was read.");
  report.Print("\n");
  report.Paragraph(
      fmt::format("{}, {} with loss, {}{} failed", names.Title(), with_loss,
                  not_proven == 0 ? "" : fmt::format("{} that may lack data, ", not_proven),
                  CountFailed(statuses)));
  report.Print(FailuresText(statuses));
  ReportShards(report, shards);
  const ExitCode code = shards.CodeWith(WorstOf(statuses));
  if (!report.is_json()) return code;
  report.Data("logs", FieldsToJson(logs));
  JsonFieldWriter totals;
  totals("logs", logs.size(), "failed", CountFailed(statuses), "logs_with_loss", with_loss,
         "logs_that_may_lack_data", not_proven, "sessions", all.sessions, "written",
         all.totals.written, "lost", all.totals.lost(), "own_fault", all.totals.own_fault);
  ListFates(totals, all.totals.by_fate);
  report.Data("totals", totals.Take());
  RS_RETURN_IF_ERROR(report.Finish());
  return code;
}

}  // namespace ringscope
