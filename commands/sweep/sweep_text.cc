#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "commands/report/table.h"
#include "commands/shell/text.h"
#include "commands/sweep/sweep_report.h"

namespace ringscope {
namespace {

constexpr size_t kKeptBar = 8;
constexpr size_t kHistoryBar = 5;
constexpr size_t kMaxSequences = 10;  // of a row, in text

/// A bar of `width` characters, in eighths.
std::string Bar(uint64_t part, uint64_t whole, size_t width, const char* rest) {
  constexpr std::array<const char*, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double share = whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  auto eighths = static_cast<size_t>(share * static_cast<double>(width) * 8 + 0.5);
  eighths = std::min(eighths, width * 8);
  if (part > 0) eighths = std::max<size_t>(eighths, 1);
  if (part < whole) eighths = std::min(eighths, width * 8 - 1);
  std::string bar;
  for (size_t i = 0; i < eighths / 8; ++i) bar += "█";
  bar += kEighths[eighths % 8];
  for (size_t i = (eighths + 7) / 8; i < width; ++i) bar += rest;
  return bar;
}

std::string BytesOrNone(uint64_t bytes) { return bytes == 0 ? "0" : HumanSize(bytes); }

/// A table's columns are those that have anything to say.
struct Shape {
  bool overwritten = false;
  bool discarded = false;
  bool other = false;  // as a column: it is not the same in all rows
  bool state = false;
  bool memory = false;  // as a column: some buffers were never filled
};

Shape ShapeOf(const SweepSeries& series) {
  Shape shape;
  for (const SweepRow* row : series.rows) {
    shape.overwritten |= row->overwritten.packets > 0;
    shape.discarded |= row->discarded.packets > 0;
    shape.other |= row->other_packets() != series.rows.front()->other_packets();
    shape.memory |= row->used_bytes + row->size / 64 < row->size;
    shape.state |= row->losses.incremental_sequences_dropped > 0;
  }
  return shape;
}

std::vector<Column> ColumnsOf(const Shape& shape) {
  std::vector<Column> columns = {{"", Align::kLeft},
                                 {"size", Align::kRight},
                                 {"kept", Align::kLeft},
                                 {"packets", Align::kRight},
                                 {"bytes", Align::kRight}};
  if (shape.overwritten) columns.push_back({"overwritten", Align::kRight});
  if (shape.discarded) columns.push_back({"discarded", Align::kRight});
  if (shape.other) columns.push_back({"other", Align::kRight});
  columns.push_back({"history", Align::kLeft});
  columns.push_back({"shortest", Align::kRight});
  columns.push_back({"of", Align::kLeft});
  if (shape.state) columns.push_back({"stateless", Align::kRight});
  if (shape.memory) columns.push_back({"memory", Align::kRight});
  return columns;
}

void PrintSequences(Console& console, const SweepReport& report, const SweepSeries& series) {
  for (const SweepRow* row : series.rows) {
    std::vector<SweepSequence> worst = row->sequences;
    std::stable_sort(worst.begin(), worst.end(),
                     [](const auto& a, const auto& b) { return a.history_ns < b.history_ns; });
    console.Print(
        fmt::format("  sequences at {}, shortest history first:\n", HumanSize(row->size)));
    Table table({{"sequence", Align::kLeft},
                 {"history", Align::kRight},
                 {"written", Align::kRight},
                 {"read", Align::kRight},
                 {"overwritten", Align::kRight},
                 {"producer", Align::kLeft}});
    for (size_t i = 0; i < std::min(worst.size(), kMaxSequences); ++i) {
      const SweepSequence& sequence = worst[i];
      const auto name = report.facts.producers.find(sequence.sequence.producer);
      table.AddRow({ToString(sequence.sequence), HumanDuration(sequence.history_ns),
                    WithCommas(sequence.written.packets), WithCommas(sequence.read.packets),
                    WithCommas(sequence.overwritten.packets),
                    name == report.facts.producers.end() ? "" : Printable(name->second)});
    }
    table.Print(console, 4);
    if (worst.size() > kMaxSequences)
      console.Print(fmt::format("    ...and {} more; --format json has all\n",
                                WithCommas(worst.size() - kMaxSequences)));
  }
}

void PrintBuffer(Console& console, const SweepReport& report, const SweepSeries& series,
                 bool sequences) {
  const uint64_t duration = report.result.duration_ns();
  const SweepRow& first = *series.rows.front();
  const uint64_t own = OwnSize(report, series.buffer);
  const Shape shape = ShapeOf(series);
  std::string heading = fmt::format(
      "buffer {}: {}, {} written by {}", Raw(first.id), Count(first.written.packets, "packet"),
      HumanSize(first.written.bytes), Count(first.sequences.size(), "sequence"));
  if (!shape.other && first.other_packets() > 0)
    heading +=
        fmt::format("; {} that no buffer could keep", Count(first.other_packets(), "packet"));
  console.Print(heading + "\n");
  Table table(ColumnsOf(shape));
  for (const SweepRow* each : series.rows) {
    const SweepRow& row = *each;
    const uint64_t kept = row.kept_packets();
    std::vector<Cell> cells = {
        row.size == own ? "*" : "", HumanSize(row.size),
        fmt::format("{} {:>6}", Bar(kept, row.written.packets, kKeptBar, "░"),
                    ShareText(kept, row.written.packets)),
        WithCommas(kept), BytesOrNone(row.read.bytes + row.unread.bytes)};
    if (shape.overwritten) cells.push_back(WithCommas(row.overwritten.packets));
    if (shape.discarded) cells.push_back(WithCommas(row.discarded.packets));
    if (shape.other) cells.push_back(WithCommas(row.other_packets()));
    cells.push_back(fmt::format("{} {:>8}", Bar(row.history_ns, duration, kHistoryBar, " "),
                                HumanDuration(row.history_ns)));
    cells.push_back(row.shortest_sequence ? HumanDuration(row.shortest_history_ns) : "");
    cells.push_back(row.shortest_sequence && row.shortest_history_ns < duration
                        ? ToString(*row.shortest_sequence)
                        : "");
    if (shape.state) cells.push_back(WithCommas(row.losses.incremental_sequences_dropped));
    if (shape.memory) cells.push_back(BytesOrNone(row.used_bytes));
    table.AddRow(std::move(cells));
  }
  table.Print(console);
  if (sequences) PrintSequences(console, report, series);
}

void PrintFound(Console& console, const SweepReport& report) {
  if (report.targets.empty()) return;
  console.Print(console.Bold(fmt::format("smallest size for {}", TargetsText(report))) + "\n");
  for (const FoundSize& found : report.found) {
    const SweepSetting& setting = report.plan.settings[found.setting];
    const auto any =
        std::find_if(report.plan.points.begin(), report.plan.points.end(),
                     [&](const SweepPoint& point) { return point.setting == found.setting; });
    const auto& rows =
        report.result.rows[found.point ? *found.point
                                       : static_cast<size_t>(any - report.plan.points.begin())];
    const std::string name = rows.empty() ? "" : SettingText(setting, rows.front()) + ": ";
    if (!found.point) {
      console.Print(fmt::format("  {}none: {}\n", name, WhyNotText(report, found.miss)));
      continue;
    }
    console.Print(fmt::format("  {}{}{}\n", name, SizesText(rows),
                              found.verified ? "; verified by an exact replay" : ""));
  }
}

}  // namespace

void PrintSweep(Console& console, const SweepReport& report, bool sequences) {
  const SweepResult& result = report.result;
  console.Print(fmt::format("{}: session {}: {} over {}\n", console.Bold(Printable(report.path)),
                            report.session, Count(result.records, "record"),
                            HumanDuration(result.duration_ns())));
  bool marked = false;
  std::string heading;
  for (const SweepSeries& all : SeriesOf(report)) {
    const SweepSeries series = AroundFound(report, all);
    const std::string text = SettingText(*series.setting, *series.rows.front());
    console.Print("\n");
    if (text != heading) console.Print(console.Bold(text) + "\n");
    heading = text;
    PrintBuffer(console, report, series, sequences);
    const uint64_t own = OwnSize(report, series.buffer);
    for (const SweepRow* row : series.rows) marked |= row->size == own;
  }
  if (marked) console.Print("\n* the log's own size\n");
  if (!report.targets.empty()) console.Print("\n");
  PrintFound(console, report);
}

}  // namespace ringscope
