#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "commands/gaps/gap_groups.h"
#include "commands/gaps/gaps_words.h"
#include "commands/graph/graph_report.h"
#include "commands/replays/loss_words.h"
#include "commands/report/page_sections.h"
#include "commands/shell/text.h"

namespace ringscope {
namespace {

constexpr size_t kGroupRows = 60;
constexpr size_t kGroupBytes = 60'000;
constexpr size_t kRowBytes = 280'000;    // of all rows, their details included
constexpr size_t kGraphBytes = 280'000;  // of all chunk graphs
constexpr size_t kGraphItems = 18;       // chunks or runs of each

const std::vector<PageColumn> kGapColumns = {{"sequence"},      {"buffer", true}, {"chunks"},
                                             {"packets", true}, {"bytes", true},  {"written at"},
                                             {"lost at"},       {"cause"}};

std::string MainCause(const Gap& gap) {
  return gap.causes.empty() ? std::string() : CauseText(gap.causes.front());
}

/// Ids of an item of a graph, both ends included.
std::pair<uint64_t, uint64_t> IdsOf(const GraphItem& item) {
  return std::visit(Overloaded{[](const ChunkNode& node) { return std::pair(node.id, node.id); },
                               [](const ChunkRun& run) { return std::pair(run.first, run.last); },
                               [](const ChunkGap& gap) { return std::pair(gap.first, gap.last); }},
                    item);
}

/// The chunks of a gap with two more on either side. `items` is empty if they are not there.
struct GapPart {
  SequenceGraph graph;
  size_t left_out = 0;
};
GapPart PartOf(const std::vector<SequenceGraph>& graphs, const Gap& gap) {
  constexpr size_t kAround = 2;
  GapPart part;
  for (const SequenceGraph& graph : graphs) {
    if (graph.buffer != gap.buffer || graph.sequence != gap.sequence) continue;
    size_t first = graph.items.size(), end = 0;
    for (size_t i = 0; i < graph.items.size(); ++i) {
      const auto [from, to] = IdsOf(graph.items[i]);
      if (to < gap.first.chunk || from > gap.last_chunk) continue;
      first = std::min(first, i);
      end = i + 1;
    }
    if (first >= end) continue;
    first -= std::min(first, kAround);
    end = std::min(end + kAround, graph.items.size());
    part.left_out = end - first - std::min(end - first, kGraphItems);
    end -= part.left_out;
    part.graph.buffer = graph.buffer;
    part.graph.generation = graph.generation;
    part.graph.sequence = graph.sequence;
    // What the sequence has as a whole, for the picture's heading.
    part.graph.chunks = graph.chunks;
    part.graph.bytes = graph.bytes;
    part.graph.packets = graph.packets;
    part.graph.items.assign(graph.items.begin() + static_cast<std::ptrdiff_t>(first),
                            graph.items.begin() + static_cast<std::ptrdiff_t>(end));
    return part;
  }
  return part;
}

/// Writes the rows of single gaps.
class GapRows {
 public:
  GapRows(const PageResults& page, const ShownGaps& shown) : page_(page), shown_(shown) {}

  /// A body of the table: the gap's row, and one with its details.
  std::string Body(const Gap& gap, size_t number) {
    PageWriter out(page_);
    const SessionNotes& notes = page_.notes;
    const std::string cause = MainCause(gap);
    out.Open("tbody", {{"data-cause", CellText(cause)}});
    out.Cells(
        {NameText(notes, gap.sequence), PageCell(std::to_string(Raw(gap.buffer)), Raw(gap.buffer)),
         PageCell(ChunksText(gap), gap.first.chunk), CountCellOf(gap.lost.packets),
         SizeCellOf(gap.lost.bytes),
         PageCell(SpanText(notes, gap.written), gap.written.first.record.value_or(0)),
         PageCell(SpanText(notes, gap.decided), gap.decided.first.record.value_or(0)), cause},
        kGapColumns);
    out.Open("tr", {{"class", "more"}});
    out.Open("td", {{"colspan", std::to_string(kGapColumns.size())}});
    out.Open("details");
    out.Open("summary");
    out.Text("Details");
    const std::string picture = Picture(gap);
    if (!picture.empty()) out.Text(" and chunks");
    out.Element("span", fmt::format(" of gap {}, {}", number, CellText(ToString(gap.sequence))),
                {{"class", "unseen"}});
    out.Close();
    out.Open("dl");
    const auto line = [&](const char* title, const std::string& text) {
      if (text.empty()) return;
      out.Element("dt", title);
      out.Element("dd", HtmlShortened(text, 600));
    };
    line("Content", ContentsText(gap, shown_.kinds));
    line("Cause", CausesText(gap));
    line("In detail", BlameText(gap, notes));
    line(IsFilled(gap) ? "Filled by" : "Evicted by", CulpritsText(gap, notes));
    line("The trace shows", SignText(gap));
    line("Unusable", UnusableText(gap));
    line("Remedy", RemediesText(gap, shown_));
    out.Element("dt", "Look at");
    out.Open("dd");
    bool is_first = true;
    for (const std::string& command : ProofTexts(gap)) {
      if (!std::exchange(is_first, false)) out.Void("br", {});
      constexpr std::string_view kTool = "ringscope ";
      out.Element("code", out.CommandLine(command.substr(kTool.size())));
    }
    out.Close();
    out.Close();
    out.Html(picture);
    out.Close();
    out.Close();
    out.Close();
    out.Close();
    return out.Take();
  }

 private:
  /// The chunks of the gap, if that is among the first and there is space.
  std::string Picture(const Gap& gap) {
    if (pictures_ == kPageGraphs) return {};
    const GapPart part = PartOf(page_.graphs, gap);
    if (part.graph.items.empty()) return {};
    GraphReport report{.outcome = page_.outcome,
                       .notes = page_.notes,
                       .clock = GraphClock(page_.outcome.first_time_ns),
                       .graphs = {part.graph},
                       .sequences = 1,
                       .with_losses = 1};
    PageWriter out(page_);
    if (!out.Picture(GraphPartSvg(report),
                     fmt::format("Chunks of {}, from #{}", ToString(gap.sequence), gap.first.chunk),
                     graphs_))
      return {};
    ++pictures_;
    if (part.left_out > 0)
      out.Note(fmt::format("{} of the gap are left out of the picture.",
                           Count(part.left_out, "further chunk or run of chunks")));
    return out.Take();
  }

  const PageResults& page_;
  const ShownGaps& shown_;
  PageBudget graphs_{kGraphBytes};
  size_t pictures_ = 0;
};

void WriteFilter(PageWriter& out, const std::vector<const Gap*>& gaps) {
  out.Open("form", {{"class", "filter"},
                    {"id", "gap-filter"},
                    {"hidden", ""},
                    {"aria-label", "Which gaps are listed"}});
  out.Open("label");
  out.Text("Text in any column ");
  out.Void("input", {{"type", "search"}, {"name", "text"}, {"autocomplete", "off"}});
  out.Close();
  out.Open("label");
  out.Text("Cause ");
  out.Open("select", {{"name", "cause"}});
  out.Element("option", "any", {{"value", ""}});
  std::set<std::string> causes;
  for (const Gap* gap : gaps) causes.insert(CellText(MainCause(*gap)));
  for (const std::string& cause : causes) out.Element("option", cause);
  out.Close();
  out.Close();
  out.Open("label");
  out.Text("Packets at least ");
  out.Void("input", {{"type", "number"}, {"name", "least"}, {"min", "0"}});
  out.Close();
  out.Element("button", "Clear", {{"type", "reset"}});
  out.Element("button", "Open all details", {{"type", "button"}, {"data-details", "open"}});
  out.Element("button", "Close them", {{"type", "button"}, {"data-details", "close"}});
  out.Element("output", "", {{"aria-live", "polite"}});
  out.Close();
}

}  // namespace

void WriteGapGroups(PageWriter& out, const PageResults& page) {
  const std::vector<GapGroup> groups = GroupsOf(LargestGaps(page.Shown(0)));
  if (groups.empty()) return;
  out.BeginReplaySection("groups", "Losses by sequence and cause");
  out.BeginTable("Gaps of the same sequence, buffer and main cause, those that lost most first",
                 {{"sequence"},
                  {"buffer", true},
                  {"cause"},
                  {"gaps", true},
                  {"packets", true},
                  {"bytes", true},
                  {"gaps that the trace does not flag", true}},
                 /*sortable=*/true);
  PageBudget budget(kGroupBytes);
  size_t shown = 0;
  for (const GapGroup& group : groups) {
    const size_t before = out.size();
    if (shown == kGroupRows) break;
    const Gap& largest = *group.gaps.front();
    const auto not_flagged =
        std::ranges::count_if(group.gaps, [](const Gap* gap) { return !ShowsLoss(gap->sign); });
    out.Row({NameText(page.notes, largest.sequence),
             PageCell(std::to_string(Raw(largest.buffer)), Raw(largest.buffer)), MainCause(largest),
             CountCellOf(group.gaps.size()), CountCellOf(group.lost.packets),
             SizeCellOf(group.lost.bytes), CountCellOf(static_cast<uint64_t>(not_flagged))});
    ++shown;
    if (!budget.Take(out.size() - before)) break;
  }
  out.EndTable();
  out.LeftOut(groups.size() - shown, "further group", "gaps --format csv");
  out.Reproduce("gaps");
  out.EndSection();
}

void WriteGapRows(PageWriter& out, const PageResults& page) {
  const ShownGaps shown = page.Shown(kPageGaps);
  const std::vector<const Gap*> gaps = LargestGaps(shown);
  if (gaps.empty()) return;
  out.BeginReplaySection("gaps", "The largest gaps");
  out.Paragraph(
      "A gap is a run of lost packets of a sequence: none between them was read. Times are from "
      "the "
      "session's start.");
  WriteFilter(out, gaps);
  out.BeginScroll("Gaps");
  out.Open("table", {{"class", "sortable grouped"}, {"id", "gap-table"}});
  out.Element("caption", "Gaps, those that lost most packets first");
  out.Open("thead");
  out.Open("tr");
  for (const PageColumn& column : kGapColumns) {
    HtmlAttributes attributes = {{"scope", "col"}};
    if (column.is_number) attributes.emplace_back("class", "number");
    out.Element("th", column.title, attributes);
  }
  out.Close();
  out.Close();
  GapRows rows(page, shown);
  // The pictures have a budget of their own.
  PageBudget budget(kRowBytes + kGraphBytes);
  size_t written = 0;
  for (const Gap* gap : gaps) {
    const std::string body = rows.Body(*gap, written + 1);
    if (!budget.Take(body.size())) break;
    out.Html(body);
    ++written;
  }
  out.Close();
  out.EndScroll();
  const uint64_t left_out = gaps.size() - written + shown.hidden + shown.unlisted;
  out.LeftOut(left_out, "smaller gap", "gaps --limit 0");
  if (!page.graphs.empty()) {
    PageBudget legend(20'000);
    out.Heading("What the pictures of chunks show");
    out.Picture(GraphLegendSvg(), "Legend of the pictures of chunks", legend);
  }
  out.Reproduce(fmt::format("gaps --limit {}", kPageGaps));
  out.EndSection();
}

}  // namespace ringscope
