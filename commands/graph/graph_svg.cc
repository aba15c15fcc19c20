#include <fmt/format.h>

#include <algorithm>

#include "commands/graph/graph_report.h"
#include "commands/report/table.h"
#include "commands/shell/text.h"
#include "formats/draw/svg.h"
#include "formats/draw/svg_style.h"

namespace ringscope {
namespace {

// All measures are pixels.
constexpr double kMargin = 24;
constexpr double kCardWidth = 182;
constexpr double kCardHeight = 66;
constexpr double kLinkWidth = 18;
constexpr double kRowHeight = 96;  // with the space above for who evicted a chunk
constexpr size_t kCardsInRow = 6;
constexpr double kInnerWidth =
    static_cast<double>(kCardsInRow) * (kCardWidth + kLinkWidth) - kLinkWidth;
constexpr double kPageWidth = kInnerWidth + 2 * kMargin;
/// Characters of 10 and 11 pixels that fit a card.
constexpr size_t kCardText = 29;
constexpr size_t kCulpritText = 30;
/// A graph of more items is drawn as a field of cells.
constexpr size_t kMaxCards = 600;
constexpr double kCell = 14;
constexpr size_t kCellsInRow = 64;
constexpr double kCellLabel = 84;

/// As much of a text as fits, with an ellipsis if it was cut.
std::string Clipped(const std::string& text, size_t width) {
  if (DisplayWidth(text) <= width) return text;
  std::string front;
  size_t taken = 0;
  for (const char c : text) {
    if ((static_cast<uint8_t>(c) & 0xC0) != 0x80 && ++taken == width) break;
    front += c;
  }
  return front + "…";
}

std::string TitleLines(std::string text, const std::vector<std::string>& more) {
  for (const std::string& line : more) text += "\n" + line;
  return text;
}

/// The texts of a card.
struct Card {
  std::string id;
  std::string right;  // of the id
  std::string size;
  std::string fate;
  std::string remark;
  std::string culprit;
  std::string title;  // the whole text, shown when the card is pointed at
  Tone tone = Tone::kUnknown;
  bool is_run = false;
  bool is_gap = false;
};

Card CardOf(const ChunkNode& node, const GraphClock& clock) {
  const std::vector<std::string> remarks = Remarks(node, clock);
  Card card;
  card.id = IdText(node.id);
  card.right = clock.At(node.committed);
  card.size = fmt::format("{} B, {}, {}", WithCommas(node.bytes), Count(node.fragments, "frag"),
                          Name(node.origin));
  card.fate = ShortFate(node);
  card.remark = Joined(remarks, "; ");
  card.culprit = CulpritText(node);
  card.title =
      TitleLines(fmt::format("{}, committed at {}\n{} bytes, {}, {}\n{}\n{}", card.id, card.right,
                             WithCommas(node.bytes), Count(node.fragments, "fragment"),
                             Name(node.origin), FateText(node, clock), PacketsText(node.packets)),
                 remarks);
  if (const std::string flags = FlagsText(node.flags); !flags.empty()) card.title += "\n" + flags;
  card.tone = ToneOf(node.fate);
  return card;
}

Card CardOf(const ChunkRun& run, const GraphClock& clock) {
  const std::vector<std::string> remarks = Remarks(run);
  Card card;
  card.id = RangeText(run.first, run.last);
  card.size = fmt::format("{}, {}", Count(run.chunks, "chunk"), HumanSize(run.bytes));
  card.fate = ShortFate(run);
  card.remark = Joined(remarks, "; ");
  card.culprit = CulpritText(run);
  card.title =
      TitleLines(fmt::format("{}, committed from {} to {}\n{}\n{}\n{}", card.id, clock.At(run.from),
                             clock.At(run.to), card.size, FateText(run), PacketsText(run.packets)),
                 remarks);
  card.tone = ToneOf(run);
  card.is_run = true;
  return card;
}

Card CardOf(const ChunkGap& gap, const GraphClock&) {
  Card card;
  card.id = RangeText(gap.first, gap.last);
  card.size = "missing";
  card.fate = "never committed";
  card.title = GapText(gap);
  card.is_gap = true;
  return card;
}

const char* ClassOf(Link link) {
  switch (link) {
    case Link::kNone:
      return "link-none";
    case Link::kRead:
      return "link-read";
    case Link::kContinues:
      return "link-continues";
    case Link::kBroken:
      return "link-torn";
  }
  return "";
}

/// An arrow down to this point.
void DrawPushed(SvgWriter& svg, double x, double y) {
  svg.Path(fmt::format("M {0} {1} V {2} M {3} {4} L {0} {2} L {5} {4}", SvgNumber(x),
                       SvgNumber(y - 13), SvgNumber(y), SvgNumber(x - 4), SvgNumber(y - 5),
                       SvgNumber(x + 4)),
           "pushed");
}

/// @return where it ends
double DrawGraphLegend(SvgWriter& svg, double y) {
  double x = kMargin;
  for (size_t i = 0; i < kTones; ++i) {
    const Tone tone = static_cast<Tone>(i);
    if (tone == Tone::kUnknown) continue;
    svg.Box({x, y, 12, 12}, Name(tone), 2);
    svg.Text(x + 18, y + 10, Meaning(tone), "soft");
    x += 44 + 6.6 * static_cast<double>(DisplayWidth(Meaning(tone)));
  }
  y += 22;
  x = kMargin;
  for (const Link link : {Link::kRead, Link::kContinues, Link::kBroken}) {
    svg.Line(x, y + 6, x + 24, y + 6, ClassOf(link));
    svg.Text(x + 30, y + 10, LinkText(link), "soft");
    x += 56 + 6.6 * static_cast<double>(DisplayWidth(LinkText(link)));
  }
  DrawPushed(svg, x + 6, y + 12);
  svg.Text(x + 18, y + 10, "overwritten by", "soft");
  return y + 30;
}

/// Draws graphs one below the other.
class GraphPicture {
 public:
  explicit GraphPicture(const GraphReport& report) : report_(report) {}

  std::string Draw() {
    svg_.Text(kMargin, y_ + 18, Printable(report_.outcome.path), "title");
    y_ += 34;
    y_ = DrawGraphLegend(svg_, y_);
    return DrawRest();
  }
  /// All but title and legend.
  std::string DrawRest() {
    for (const SequenceGraph& graph : report_.graphs) DrawGraph(graph);
    if (const std::string closing = report_.ClosingText(); !closing.empty()) {
      svg_.Text(kMargin, y_ + 12, closing, "soft");
      y_ += 24;
    }
    return svg_.Finish(kPageWidth, y_ + kMargin, "chunks of " + Printable(report_.outcome.path),
                       SvgStyle());
  }

 private:
  void DrawGraph(const SequenceGraph& graph) {
    svg_.Text(kMargin, y_ + 12,
              fmt::format("sequence {} in {}", ToString(graph.sequence), report_.BufferText(graph)),
              "heading");
    svg_.Text(kMargin, y_ + 29, GraphReport::SummaryText(graph), "soft");
    y_ += 40;
    DrawStrip(graph);
    if (graph.items.size() > kMaxCards)
      DrawCells(graph);
    else
      DrawCards(graph);
    y_ += 14;
  }

  /// All chunks from left to right, to scale.
  void DrawStrip(const SequenceGraph& graph) {
    struct Segment {
      uint64_t first, last;
      std::string classes;
    };
    std::vector<Segment> segments;
    const auto add = [&](uint64_t first, uint64_t last, const char* classes) {
      if (!segments.empty() && segments.back().classes == classes)
        segments.back().last = last;
      else
        segments.push_back({first, last, classes});
    };
    for (const GraphItem& item : graph.items) {
      std::visit(
          Overloaded{[&](const ChunkNode& node) { add(node.id, node.id, Name(ToneOf(node.fate))); },
                     [&](const ChunkRun& run) { add(run.first, run.last, Name(ToneOf(run))); },
                     [&](const ChunkGap& gap) { add(gap.first, gap.last, "none"); }},
          item);
    }
    if (segments.empty()) return;
    const uint64_t first = segments.front().first, last = segments.back().last;
    const double scale = kInnerWidth / static_cast<double>(last - first + 1);
    for (const Segment& segment : segments) {
      const double x = static_cast<double>(segment.first - first) * scale;
      const double width = static_cast<double>(segment.last - segment.first + 1) * scale;
      svg_.Box({kMargin + x, y_, std::max(width, 1.0), 10}, segment.classes);
    }
    svg_.Text(kMargin, y_ + 22, IdText(first), "soft small");
    svg_.Text(kMargin + kInnerWidth, y_ + 22, IdText(last), "soft small right");
    y_ += 32;
  }

  void DrawCards(const SequenceGraph& graph) {
    for (size_t i = 0; i < graph.items.size(); ++i) {
      const double x = kMargin + static_cast<double>(i % kCardsInRow) * (kCardWidth + kLinkWidth);
      const double y = y_ + 22 + static_cast<double>(i / kCardsInRow) * kRowHeight;
      DrawCard(x, y,
               std::visit([&](const auto& item) { return CardOf(item, report_.clock); },
                          graph.items[i]));
      if (i + 1 < graph.items.size()) DrawLink(x, y, i, graph.LinkAfter(i));
    }
    const size_t rows = (graph.items.size() + kCardsInRow - 1) / kCardsInRow;
    y_ += static_cast<double>(rows) * kRowHeight;
  }

  void DrawCard(double x, double y, const Card& card) {
    svg_.BeginGroup(card.title);
    if (card.is_run) svg_.Box({x + 4, y + 4, kCardWidth - 4, kCardHeight}, "card", 4);
    const double width = card.is_run ? kCardWidth - 4 : kCardWidth;
    svg_.Box({x, y, width, kCardHeight}, card.is_gap ? "gap" : "card", 4);
    if (!card.is_gap) svg_.Box({x, y, 6, kCardHeight}, Name(card.tone), 2);
    svg_.Text(x + 13, y + 16, card.id, "id");
    svg_.Text(x + width - 7, y + 16, card.right, "soft small right");
    svg_.Text(x + 13, y + 31, Clipped(card.size, kCardText), "soft small");
    svg_.Text(x + 13, y + 45, Clipped(card.fate, kCardText), "");
    svg_.Text(x + 13, y + 59, Clipped(card.remark, kCardText), "soft small");
    if (!card.culprit.empty()) {
      DrawPushed(svg_, x + 14, y - 1);
      svg_.Text(x + 24, y - 6, Clipped(card.culprit, kCulpritText), "lost small");
    }
    svg_.EndGroup();
  }

  /// From the card at (x, y) to the next one, which can be in the next row.
  void DrawLink(double x, double y, size_t i, Link link) {
    const double middle = y + kCardHeight / 2;
    const double right = x + kCardWidth;
    if ((i + 1) % kCardsInRow != 0) {
      svg_.Line(right, middle, right + kLinkWidth, middle, ClassOf(link));
      return;
    }
    svg_.Line(right, middle, right + kLinkWidth / 2, middle, ClassOf(link));
    svg_.Line(kMargin - kLinkWidth / 2, middle + kRowHeight, kMargin, middle + kRowHeight,
              ClassOf(link));
  }

  /// One small box for each item, with the id of the first at the front of each row.
  void DrawCells(const SequenceGraph& graph) {
    for (size_t i = 0; i < graph.items.size(); ++i) {
      const Card card =
          std::visit([&](const auto& item) { return CardOf(item, report_.clock); }, graph.items[i]);
      const double x = kMargin + kCellLabel + static_cast<double>(i % kCellsInRow) * (kCell + 2);
      const double y = y_ + static_cast<double>(i / kCellsInRow) * (kCell + 2);
      if (i % kCellsInRow == 0) svg_.Text(x - 8, y + kCell - 3, card.id, "soft small right");
      svg_.BeginGroup(card.title);
      svg_.Box({x, y, kCell, kCell}, card.is_gap ? "gap" : Name(card.tone), 2);
      svg_.EndGroup();
      const bool ends_row = (i + 1) % kCellsInRow == 0 || i + 1 == graph.items.size();
      const Link link = graph.LinkAfter(i);
      if (!ends_row && link != Link::kNone)
        svg_.Line(x + kCell - 3, y + kCell / 2, x + kCell + 5, y + kCell / 2, ClassOf(link));
    }
    const size_t rows = (graph.items.size() + kCellsInRow - 1) / kCellsInRow;
    y_ += static_cast<double>(rows) * (kCell + 2) + 8;
  }

  const GraphReport& report_;
  SvgWriter svg_;
  double y_ = kMargin;
};

}  // namespace

std::string GraphSvg(const GraphReport& report) { return GraphPicture(report).Draw(); }

std::string GraphPartSvg(const GraphReport& report) { return GraphPicture(report).DrawRest(); }

std::string GraphLegendSvg() {
  SvgWriter svg;
  const double end = DrawGraphLegend(svg, 8);
  return svg.Finish(kPageWidth, end, "what colours and lines mean", SvgStyle());
}

}  // namespace ringscope
