#include "commands/replay/replay_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "commands/replay/buffer_table.h"
#include "commands/replays/session_loop.h"
#include "commands/replays/session_reads.h"
#include "commands/replays/verdict_words.h"
#include "commands/shell/text.h"

namespace ringscope {
namespace {

/// What the service kept from the buffers, or from the trace.
std::string RefusalsText(const ServiceStats& service) {
  std::vector<std::string> refused;
  const auto add = [&](uint64_t count, const char* noun) {
    if (count > 0)
      refused.push_back(count == 1 || std::string_view(noun) != "patch"
                            ? Count(count, noun)
                            : WithCommas(count) + " patches");
  };
  add(service.chunks_discarded, "chunk");
  add(service.patches_discarded, "patch");
  add(service.invalid_packets, "packet");
  if (refused.empty()) return "";
  return fmt::format("\nThe service itself refused {}.\n", Joined(refused));
}

/// Rows of what became of the packets that were written: they add up.
void AddAccountRows(std::vector<BufferRow>& rows,
                    const std::map<BufferId, LedgerTotals>& accounts) {
  using Buffer = const BufferOutcome&;
  if (accounts.empty()) {
    rows.push_back(
        CountRow("packets", "read", "packets.read", [](Buffer b) { return b.read.packets; }));
    return;
  }
  const auto of = [&accounts](FateCount (*part)(const LedgerTotals&)) -> BufferRow::Value {
    return [&accounts, part](Buffer b) -> uint64_t {
      const auto found = accounts.find(b.id);
      return found == accounts.end() ? 0 : part(found->second).packets;
    };
  };
  using Totals = const LedgerTotals&;
  const auto any = BufferRow::kIfAny;
  const auto written = of([](Totals t) { return t.written; });
  for (BufferRow& row : std::vector<BufferRow>{
           CountRow("packets", "written", "packets.written", written),
           CountRow("", "read", "packets.read", of([](Totals t) { return t[Fate::kRead]; })),
           ShareRow("", "lost", "packets.lost", of([](Totals t) { return t.lost(); }), written),
           CountRow("", "folded", "packets.folded", of([](Totals t) { return t[Fate::kFolded]; }),
                    any),
           CountRow("", "left", "packets.left", of([](Totals t) { return t.left(); })),
           CountRow("", "elsewhere", "packets.elsewhere",
                    of([](Totals t) { return t.elsewhere(); }), any),
           CountRow("", "read twice", "packets.duplicates",
                    of([](Totals t) { return t.duplicates; }), any),
           // What was folded after the states were written is lost.
           CountRow(
               "programs", "folded", "programs.folded",
               [](Buffer b) { return b.programs().folded; }, any),
           CountRow(
               "", "in the trace", "programs.in_trace",
               [](Buffer b) { return b.programs().in_trace; }, any),
           CountRow(
               "", "errors", "programs.errors", [](Buffer b) { return b.programs().errors; }, any),
           CountRow(
               "", "aborted", "programs.aborted", [](Buffer b) { return b.programs().aborted; },
               any),
           CountRow(
               "", "at limit", "programs.at_limit", [](Buffer b) { return b.programs().at_limit; },
               any)})
    rows.push_back(std::move(row));
}

void ReportService(Report& report, const ServiceStats& service) {
  Table table({{"service"}, {"", Align::kRight}});
  Json object = Json::object();
  for (const ServiceField& field : kServiceFields) {
    table.AddRow({field.name, WithCommas(service.*field.value)});
    object[field.name] = service.*field.value;
  }
  report.Section("", table);
  report.Data("service", std::move(object));
}

/// One row for each writer: how many of its commits had how many bytes of fragments.
void ReportHistograms(Report& report, const std::vector<WriterOutcome>& writers) {
  report.Data("histogram_limits", kHistogramLimits);
  std::vector<Column> columns = {DataColumn("buffer"),      {"sequence", Align::kLeft, "sequence"},
                                 {"buffer", Align::kRight}, {"bytes", Align::kRight},
                                 DataColumn("counts"),      DataColumn("sums")};
  // Sizes that no writer used are left out.
  const auto shown = [&](size_t bucket) {
    const auto is_used = [&](const WriterOutcome& writer) {
      return writer.histogram.counts[bucket] > 0;
    };
    return std::any_of(writers.begin(), writers.end(), is_used) ? kInText : 0;
  };
  for (size_t i = 0; i < kHistogramLimits.size(); ++i)
    columns.push_back({fmt::format("<={}", kHistogramLimits[i]), Align::kRight, "", shown(i)});
  columns.push_back({"more", Align::kRight, "", shown(kHistogramLimits.size())});
  Table table(std::move(columns));
  for (const WriterOutcome& writer : writers) {
    const auto& sums = writer.histogram.sums;
    std::vector<Cell> cells = {DataCell(Raw(writer.buffer)),
                               NameCell(ToString(writer.sequence)),
                               NumberCell(Raw(writer.buffer)),
                               CountCell(std::accumulate(sums.begin(), sums.end(), uint64_t{0})),
                               DataCell(writer.histogram.counts),
                               DataCell(sums)};
    for (const uint32_t count : writer.histogram.counts)
      cells.push_back(count == 0 ? "." : WithCommas(count));
    table.AddRow(std::move(cells));
  }
  report.Data("writers", table.ToJson());
  if (!table.empty()) report.Print("\nCommits by bytes of their fragments\n");
  report.Print(table);
}

}  // namespace

void ReportReplay(Report& report, const ReplayOutcome& outcome,
                  const std::map<BufferId, LedgerTotals>& accounts) {
  ReportReplayTitle(report, outcome);
  report.Data({{"input", outcome.path},
               {"session", outcome.session},
               {"records", outcome.records},
               {"read_passes", outcome.read_passes},
               {"reads", ReadsJson(outcome.reads)},
               {"recorder_gaps", outcome.recorder_gaps},
               {"duration_ns", outcome.duration_ns()}});
  AddInexact(report, outcome.verdicts);
  using Buffer = const BufferOutcome&;
  const auto any = BufferRow::kIfAny;
  std::vector<BufferRow> rows = IdentityRows();
  rows.push_back({"", "", "freed", [](Buffer b) { return DataCell(b.freed); }, BufferRow::kNever});
  AddAccountRows(rows, accounts);
  for (BufferRow& row : std::vector<BufferRow>{
           CountRow("written", "chunks", "written.chunks", Stat(&BufferStats::chunks_written)),
           BytesRow("", "bytes", "written.bytes", Stat(&BufferStats::bytes_written)),
           CountRow(
               "", "", "read.packets", [](Buffer b) { return b.read.packets; }, BufferRow::kNever),
           BytesRow("read", "packet bytes", "read.bytes", [](Buffer b) { return b.read.bytes; }),
           CountRow(
               "", "invalid packets", "read.invalid_packets", [](Buffer b) { return b.invalid; },
               any),
           ShareRow("overwritten", "chunks", "overwritten.chunks",
                    Stat(&BufferStats::chunks_overwritten), Stat(&BufferStats::chunks_written)),
           BytesRow("", "bytes", "overwritten.bytes", Stat(&BufferStats::bytes_overwritten)),
           ShareRow("discarded", "chunks", "discarded.chunks", Stat(&BufferStats::chunks_discarded),
                    [](Buffer b) { return b.stats.chunks_written + b.stats.chunks_discarded; }),
           ShareRow("patches", "failed", "", Stat(&BufferStats::patches_failed),
                    [](Buffer b) { return b.stats.patches_failed + b.stats.patches_succeeded; })})
    rows.push_back(std::move(row));
  AddLossRows(rows, "loss_flags.packets", "loss_flags.by_cause.",
              "loss_flags.incremental_sequences_dropped");
  for (BufferRow& row : std::vector<BufferRow>{
           CountRow(
               "still unread", "packets", "unread.packets",
               [](Buffer b) { return b.unread.packets; }, any),
           BytesRow(
               "", "packet bytes", "unread.bytes", [](Buffer b) { return b.unread.bytes; }, any),
           BytesRow(
               "incomplete", "bytes", "incomplete_bytes", [](Buffer b) { return b.stuck_bytes; },
               any)})
    rows.push_back(std::move(row));
  ReportBuffers(report, outcome, rows);
  if (report.is_text()) report.Print(RefusalsText(outcome.service));
}

void ReportStats(Report& report, const ReplayOutcome& outcome) {
  std::vector<BufferRow> rows = IdentityRows();
  for (const StatField& field : kStatFields)
    rows.push_back(CountRow(field.name, "", std::string("stats.") + field.name, Stat(field.value)));
  AddLossRows(rows, "sequence_packet_loss", "data_loss.", "incremental_sequences_dropped");
  ReportBuffers(report, outcome, rows);
  ReportService(report, outcome.service);
  ReportHistograms(report, outcome.writers);
}

}  // namespace ringscope
