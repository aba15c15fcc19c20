#include "commands/replay/stats_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "commands/replay/replay_report.h"
#include "commands/shell/text.h"

namespace ringscope {
namespace {

void ReportBuffers(Report& report, const ReplayOutcome& outcome) {
  BufferTable table(outcome);
  table.AddIdentity();
  for (const StatField& field : kStatFields)
    table.AddCount(field.name, "", std::string("stats.") + field.name,
                   [&field](const BufferOutcome& buffer) { return buffer.stats.*field.value; });
  table.AddCount("loss flags", "packets", "sequence_packet_loss", FlaggedPackets);
  table.AddCount("", "", "incremental_sequences_dropped", SequencesDropped,
                 BufferTable::Shown::kNever);
  AddLossBits(table, "data_loss.");
  table.AddCount("unusable", "sequences", "", SequencesDropped, BufferTable::Shown::kIfAny);
  table.AddTo(report);
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

void ReportStats(Report& report, const ReplayOutcome& outcome) {
  ReportBuffers(report, outcome);
  ReportService(report, outcome.service);
  ReportHistograms(report, outcome.writers);
}

}  // namespace ringscope
