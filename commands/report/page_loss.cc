#include <fmt/format.h>

#include <algorithm>

#include "commands/replays/loss_words.h"
#include "commands/replays/session_reads.h"
#include "commands/report/page_sections.h"
#include "commands/shell/text.h"
#include "formats/draw/svg.h"

namespace ringscope {
namespace {

// A chart's own units: an interval is 1 wide; bars of what was written go up from the middle, bars
// of what was lost down.
constexpr double kMiddle = 50;
constexpr size_t kChartTableRows = 12;

/// A line with steps along the tops of the bars, closed at the middle.
template <typename Value>
std::string Bars(const TimelineLane& lane, double scale, double direction, const Value& value) {
  std::string path = fmt::format("M0 {}", SvgNumber(kMiddle));
  double last = -1;
  size_t width = 0;
  const auto put = [&] {
    if (width > 0) path += fmt::format("V{}h{}", SvgNumber(kMiddle + direction * last), width);
  };
  for (const TimelineInterval& interval : lane.intervals) {
    const uint64_t count = value(interval);
    // What is not nothing can be seen.
    const double height = count == 0 ? 0 : std::max(1.0, static_cast<double>(count) * scale);
    if (height != last) {
      put();
      last = height;
      width = 0;
    }
    ++width;
  }
  put();
  return path + fmt::format("V{}z", SvgNumber(kMiddle));
}

template <typename Value>
std::string ListOf(const TimelineLane& lane, const Value& value) {
  std::string list;
  for (const TimelineInterval& interval : lane.intervals) {
    if (!list.empty()) list += ' ';
    list += std::to_string(value(interval));
  }
  return list;
}

uint64_t Written(const TimelineInterval& interval) { return interval.written; }
uint64_t LostIn(const TimelineInterval& interval) { return interval.lost; }

std::string LaneName(const PageResults& page, const TimelineLane& lane) {
  if (!lane.sequence) return fmt::format("Buffer {}", Raw(lane.buffer));
  return fmt::format("{} in buffer {}", NameText(page.notes, *lane.sequence), Raw(lane.buffer));
}

std::string LaneSum(const TimelineInterval& all) {
  return fmt::format("{} of {} lost ({})", WithCommas(all.lost), Count(all.written, "packet"),
                     ShareText(all.lost, all.written));
}

/// "1.250 s" from the session's start, or "record 17".
std::string PlaceText(const TimelineAxis& axis, uint64_t offset) {
  if (axis.by_record) return fmt::format("record {}", axis.first + offset);
  return HumanDuration(offset);
}

uint64_t OffsetOf(const TimelineAxis& axis, size_t part, size_t parts) {
  return static_cast<uint64_t>(static_cast<double>(axis.length()) * static_cast<double>(part) /
                               static_cast<double>(parts));
}

void WriteLane(PageWriter& out, const PageResults& page, const TimelineLane& lane) {
  uint64_t largest = 1;
  size_t worst = 0;
  for (size_t i = 0; i < lane.intervals.size(); ++i) {
    largest = std::max(largest, lane.intervals[i].written);
    if (lane.intervals[i].lost > lane.intervals[worst].lost) worst = i;
  }
  const double scale = (kMiddle - 1) / static_cast<double>(largest);
  const TimelineAxis& axis = page.timeline->axis();
  const std::string name = CellText(LaneName(page, lane));
  out.Open("figure", {{"class", "lane"},
                      {"data-written", ListOf(lane, Written)},
                      {"data-lost", ListOf(lane, LostIn)}});
  out.Open("figcaption");
  out.Element("span", name, {{"class", "lane-name"}});
  out.Text(" ");
  out.Element("span", LaneSum(lane.all), {{"class", "lane-sum"}});
  out.Text(" ");
  out.Element("span", fmt::format("highest bar: {}", Count(largest, "packet")),
              {{"class", "lane-scale"}});
  out.Close();
  const std::string most =
      lane.all.lost == 0
          ? "nothing was lost"
          : fmt::format("most were lost at about {}",
                        PlaceText(axis, OffsetOf(axis, worst, lane.intervals.size())));
  const size_t width = lane.intervals.size();
  out.Html(fmt::format(
      R"(<svg class="chart" viewBox="0 0 {0} 100" preserveAspectRatio="none" role="img">)"
      "<title>{1}: {2}; {3}</title>"
      R"(<path class="bar-written" d="{4}"/><path class="bar-lost" d="{5}"/>)"
      R"(<path class="chart-middle" d="M0 50H{0}"/></svg>)",
      width, HtmlEscaped(name), HtmlEscaped(LaneSum(lane.all)), HtmlEscaped(most),
      Bars(lane, scale, -1, Written), Bars(lane, scale, 1, LostIn)));
  out.Close();
}

/// Buffers by interval, for those who do not see the charts.
void WriteChartTable(PageWriter& out, const PageResults& page) {
  const LossTimeline& timeline = *page.timeline;
  std::vector<const TimelineLane*> lanes;
  for (const TimelineLane& lane : timeline.lanes())
    if (!lane.sequence) lanes.push_back(&lane);
  out.Open("details");
  out.Element("summary", "The buffers' charts as a table");
  std::vector<PageColumn> columns = {{"committed"}};
  for (const TimelineLane* lane : lanes) {
    columns.push_back({fmt::format("buffer {}: packets", Raw(lane->buffer)), true});
    columns.push_back({"lost", true});
  }
  out.BeginTable("Packets by time of their commit", columns);
  const size_t step = kPageIntervals / kChartTableRows;
  for (size_t row = 0; row < kChartTableRows; ++row) {
    std::vector<PageCell> cells = {fmt::format(
        "{} to {}", PlaceText(timeline.axis(), OffsetOf(timeline.axis(), row, kChartTableRows)),
        PlaceText(timeline.axis(), OffsetOf(timeline.axis(), row + 1, kChartTableRows)))};
    for (const TimelineLane* lane : lanes) {
      TimelineInterval sum;
      for (size_t i = row * step; i < (row + 1) * step; ++i) {
        sum.written += lane->intervals[i].written;
        sum.lost += lane->intervals[i].lost;
      }
      cells.push_back(CountCellOf(sum.written));
      cells.push_back(CountCellOf(sum.lost));
    }
    out.Row(cells);
  }
  out.EndTable();
  out.Close();
}

void WriteZoom(PageWriter& out) {
  out.Open("div", {{"class", "zoom"},
                   {"role", "group"},
                   {"aria-label", "Part of the time that is shown"},
                   {"hidden", ""}});
  const auto button = [&](const char* action, const char* text) {
    out.Element("button", text, {{"type", "button"}, {"data-zoom", action}});
  };
  button("in", "Zoom in");
  button("out", "Zoom out");
  button("left", "Earlier");
  button("right", "Later");
  button("all", "All of it");
  out.Element("output", "", {{"aria-live", "polite"}});
  out.Element("span", "Or drag over a chart.", {{"class", "hint"}});
  out.Close();
}

}  // namespace

void WriteFates(PageWriter& out, const PageResults& page) {
  constexpr size_t kFateBytes = 40'000;
  out.BeginReplaySection("fates", "What became of the packets");
  out.Paragraph(fmt::format("Buffers were read {}. {}", ReadsText(page.outcome.reads),
                            ReadsNotes(page.outcome.reads)));
  const ShownGaps shown = page.Shown(0);
  const size_t start = out.size();
  size_t listed = 0;
  for (const BufferGaps& buffer : page.gaps.buffers) {
    if (out.size() - start > kFateBytes) break;
    ++listed;
    const BufferOutcome* outcome = shown.BufferOf(buffer.id);
    const std::string what = outcome == nullptr
                                 ? "never set up"
                                 : fmt::format("{} {}, {}", HumanSize(outcome->size),
                                               Name(outcome->policy), outcome->engine);
    out.BeginTable(fmt::format("Buffer {}: {}", Raw(buffer.id), what),
                   {{"packets"}, {"number", true}, {"bytes", true}, {"share", true}});
    const FateCount written = buffer.totals.written;
    const auto row = [&](const std::string& name, const FateCount& count) {
      out.Row({name, CountCellOf(count.packets), SizeCellOf(count.bytes),
               ShareText(count.packets, written.packets)});
    };
    row("written", written);
    for (size_t i = 0; i < kFates; ++i) {
      const auto fate = static_cast<Fate>(i);
      const FateCount& count = buffer.totals[fate];
      if (count.packets > 0)
        row(fmt::format("{}{}", IsLoss(fate) ? "lost: " : "", Name(fate)), count);
    }
    if (buffer.totals.own_fault.packets > 0)
      row("of these by a buffer bug", buffer.totals.own_fault);
    out.EndTable();
  }
  out.LeftOut(page.gaps.buffers.size() - listed, "further buffer", "gaps --summary");
  out.Reproduce("gaps --summary");
  out.EndSection();
}

void WriteTimeline(PageWriter& out, const PageResults& page) {
  if (!page.timeline || page.timeline->lanes().empty()) return;
  const LossTimeline& timeline = *page.timeline;
  const TimelineAxis& axis = timeline.axis();
  out.BeginReplaySection("timeline", "Loss over time");
  out.Open("p");
  out.Text(fmt::format("Packets by the {} at which they were committed, {} in an interval. ",
                       axis.by_record ? "record" : "time, from the session's start,",
                       axis.by_record
                           ? Count(std::max<uint64_t>(1, axis.length() / kPageIntervals), "record")
                           : HumanDuration(axis.length() / kPageIntervals)));
  out.Element("span", "Up: written.", {{"class", "key key-written"}});
  out.Text(" ");
  out.Element("span", "Down: of these, lost.", {{"class", "key key-lost"}});
  out.Text(" Each chart has its own scale.");
  out.Close();
  out.Open("div", {{"class", "charts"},
                   {"data-axis", axis.by_record ? "record" : "time"},
                   {"data-first", std::to_string(axis.by_record ? axis.first : 0)},
                   {"data-length", std::to_string(axis.length())}});
  WriteZoom(out);
  bool is_first_sequence = true;
  const auto end_axis = [&] {
    out.Open("div", {{"class", "chart-axis"}, {"aria-hidden", "true"}});
    for (size_t i = 0; i <= 4; ++i) out.Element("span", PlaceText(axis, OffsetOf(axis, i, 4)));
    out.Close();
  };
  out.Heading("By buffer");
  for (const TimelineLane& lane : timeline.lanes()) {
    if (lane.sequence && std::exchange(is_first_sequence, false)) {
      end_axis();
      out.Heading("By sequence, those that lost most");
    }
    WriteLane(out, page, lane);
  }
  end_axis();
  out.Close();
  WriteChartTable(out, page);
  uint64_t sequences = 0;
  for (const BufferGaps& buffer : page.gaps.buffers)
    for (const SequenceGaps& sequence : buffer.sequences)
      if (sequence.lost().packets > 0) ++sequences;
  if (sequences > kPageSequences)
    out.LeftOut(sequences - kPageSequences, "further sequence that lost packets", "gaps --summary");
  if (page.gaps.buffers.size() > kPageBuffers)
    out.LeftOut(page.gaps.buffers.size() - kPageBuffers, "further buffer", "gaps --summary");
  out.Reproduce("timeline -o timeline.pftrace");
  out.EndSection();
}

void WriteEvictions(PageWriter& out, const PageResults& page) {
  const EvictionMatrix& matrix = page.evictions;
  if (matrix.all() == 0) return;
  out.BeginReplaySection("evictions", "Who overwrote whom");
  out.Paragraph(
      "Packets that were overwritten before they were read: of the row's sequence, for a commit of "
      "the column's sequence. Darker cells have a larger share of all.");
  std::vector<PageColumn> columns = {{"lost \\ needed the space"}};
  for (const SequenceKey key : matrix.pushed)
    columns.push_back({CellText(NameText(page.notes, key)), true});
  if (matrix.other_columns > 0)
    columns.push_back({fmt::format("{} others", WithCommas(matrix.other_columns)), true});
  columns.push_back({"all", true});
  out.BeginTable("Packets overwritten, by sequence and by the sequence that needed the space",
                 columns);
  const uint64_t all = matrix.all();
  const size_t shown_columns = matrix.pushed.size() + (matrix.other_columns > 0 ? 1 : 0);
  for (size_t row = 0; row < matrix.packets.size(); ++row) {
    const bool is_others = row == matrix.lost.size();
    if (is_others && matrix.other_rows == 0) continue;
    out.Open("tr");
    out.Element("th",
                is_others ? fmt::format("{} others", WithCommas(matrix.other_rows))
                          : CellText(NameText(page.notes, matrix.lost[row])),
                {{"scope", "row"}});
    uint64_t sum = 0;
    for (size_t column = 0; column < shown_columns; ++column) {
      const uint64_t count = matrix.packets[row][column];
      sum += count;
      // Four steps: from a hundredth, a thirtieth, a tenth and a third of all.
      const int heat = count * 3 >= all     ? 4
                       : count * 10 >= all  ? 3
                       : count * 30 >= all  ? 2
                       : count * 100 >= all ? 1
                                            : 0;
      out.Element("td", count == 0 ? "-" : WithCommas(count),
                  {{"class", fmt::format("number heat-{}", heat)}});
    }
    out.Element("td", WithCommas(sum), {{"class", "number"}});
    out.Close();
  }
  out.EndTable();
  if (matrix.unknown > 0)
    out.Note(fmt::format("For {} the engine does not report who needed the space.",
                         Count(matrix.unknown, "further packet")));
  out.Reproduce("gaps --packets --format csv");
  out.EndSection();
}

}  // namespace ringscope
