#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/graph/graph_card.h"
#include "commands/graph/graph_report.h"
#include "commands/shell/text.h"
#include "formats/draw/svg.h"
#include "formats/draw/svg_style.h"
#include "formats/draw/svg_text.h"

namespace ringscope {
namespace {

// All measures are pixels.
constexpr double kMargin = 24;
constexpr size_t kCardsInRow = 6;
constexpr double kInnerWidth =
    static_cast<double>(kCardsInRow) * (kCardWidth + kLinkWidth) - kLinkWidth;
constexpr double kPageWidth = kInnerWidth + 2 * kMargin;
/// A graph of more items is drawn as a field of cells.
constexpr size_t kMaxCards = 600;
constexpr double kCell = 14;
constexpr size_t kCellsInRow = 64;
constexpr double kCellLabel = 84;

/// A box that shows what became of chunks: by its colour, and by marks for those who do not see
/// colours. Struck: lost.
void DrawTone(SvgWriter& svg, const SvgBox& box, Tone tone, double radius = 0) {
  constexpr double kLeastMarked = 4;
  if (tone == Tone::kUnread && box.width > kLeastMarked) {
    svg.Box({box.x + 1, box.y + 1, box.width - 2, box.height - 2}, "hollow", radius);
    return;
  }
  svg.Box(box, Name(tone), radius);
  if (box.width < kLeastMarked) return;
  const double middle = box.y + box.height / 2;
  if (tone == Tone::kLost || tone == Tone::kPartly)
    svg.Line(box.x, middle, box.x + box.width, middle,
             tone == Tone::kLost ? "struck" : "half-struck");
  if (tone == Tone::kWaiting) {
    std::string bars;
    for (double x = 4; x < box.width; x += 4)
      bars += fmt::format("M {} {} V {} ", SvgNumber(box.x + x), SvgNumber(box.y),
                          SvgNumber(box.y + box.height));
    bars.pop_back();
    svg.Path(bars, "barred");
  }
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
  svg.Path(
      fmt::format("M {0} {1} V {2} M {3} {4} L {0} {2} L {5} {4}", SvgNumber(x), SvgNumber(y - 13),
                  SvgNumber(y), SvgNumber(x - 4), SvgNumber(y - 5), SvgNumber(x + 4)),
      "pushed");
}

/// Signs with their meanings, in lines.
class LegendLines {
 public:
  LegendLines(SvgWriter& svg, double y) : svg_(svg), y_(y) {}

  /// @param draw a sign of this width at (x, y), 12 pixels high
  template <typename Draw>
  void Add(double width, const char* meaning, const Draw& draw) {
    const double needed = width + 6 + SvgTextWidth(meaning, "soft");
    if (x_ + needed > kMargin + kInnerWidth) EndLine();
    draw(x_, y_);
    svg_.Text(x_ + width + 6, y_ + 10, meaning, "soft");
    x_ += needed + 22;
  }
  void EndLine() {
    x_ = kMargin;
    y_ += 22;
  }
  double y() const { return y_; }

 private:
  SvgWriter& svg_;
  double x_ = kMargin;
  double y_;
};

/// @return where it ends
double DrawGraphLegend(SvgWriter& svg, double y) {
  LegendLines legend(svg, y);
  for (size_t i = 0; i < kTones; ++i) {
    const Tone tone = static_cast<Tone>(i);
    if (tone == Tone::kUnknown) continue;
    legend.Add(24, Meaning(tone), [&](double x, double top) {
      DrawTone(svg, {x, top, 24, 12}, tone, 2);
    });
  }
  legend.EndLine();
  legend.Add(16, "a run of chunks", [&](double x, double top) {
    svg.Box({x + 3, top + 3, 12, 9}, "card", 2);
    svg.Box({x, top, 12, 9}, "card", 2);
  });
  legend.Add(24, "ids without a chunk", [&](double x, double top) {
    svg.Box({x, top, 24, 12}, "gap", 2);
  });
  legend.Add(12, "overwritten by", [&](double x, double top) { DrawPushed(svg, x + 6, top + 12); });
  for (const Link link : {Link::kRead, Link::kContinues, Link::kBroken, Link::kNone})
    legend.Add(24, link == Link::kNone ? "no packet continues" : LinkText(link),
               [&](double x, double top) { svg.Line(x, top + 6, x + 24, top + 6, ClassOf(link)); });
  legend.EndLine();
  return legend.y() + 8;
}

/// Draws graphs one below the other.
class GraphPicture {
 public:
  explicit GraphPicture(const GraphReport& report) : report_(report) {}

  std::string Draw() {
    y_ += 18;
    DrawTextLines(Printable(report_.outcome.path), "title", 20);
    y_ -= 4;
    y_ = DrawGraphLegend(svg_, y_);
    for (const SequenceGraph& graph : report_.graphs) DrawGraph(graph);
    if (const std::string closing = report_.ClosingText(); !closing.empty()) {
      y_ += 12;
      DrawTextLines(closing, "soft", 14);
    }
    return svg_.Finish(kPageWidth, y_ + kMargin, "chunks of " + Printable(report_.outcome.path),
                       SvgStyle());
  }

 private:
  /// With y_ as the first base line.
  void DrawTextLines(const std::string& text, const char* classes, double height) {
    for (const std::string& line : SvgTextLines(text, kInnerWidth, classes)) {
      svg_.Text(kMargin, y_, line, classes);
      y_ += height;
    }
  }

  void DrawGraph(const SequenceGraph& graph) {
    y_ += 12;
    DrawTextLines(report_.HeadingText(graph), "heading", 17);
    DrawTextLines(GraphReport::SummaryText(graph), "soft", 14);
    y_ -= 3;
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
      std::optional<Tone> tone;  // absent: ids without a chunk
    };
    std::vector<Segment> segments;
    const auto add = [&](uint64_t first, uint64_t last, std::optional<Tone> tone) {
      if (!segments.empty() && segments.back().tone == tone)
        segments.back().last = last;
      else
        segments.push_back({first, last, tone});
    };
    for (const GraphItem& item : graph.items) {
      std::visit(
          Overloaded{[&](const ChunkNode& node) { add(node.id, node.id, ToneOf(node.fate)); },
                     [&](const ChunkRun& run) { add(run.first, run.last, ToneOf(run)); },
                     [&](const ChunkGap& gap) { add(gap.first, gap.last, std::nullopt); }},
          item);
    }
    if (segments.empty()) return;
    const uint64_t first = segments.front().first, last = segments.back().last;
    const double scale = kInnerWidth / static_cast<double>(last - first + 1);
    for (const Segment& segment : segments) {
      const double x = static_cast<double>(segment.first - first) * scale;
      const double width = static_cast<double>(segment.last - segment.first + 1) * scale;
      const SvgBox box{kMargin + x, y_, std::max(width, 1.0), 10};
      if (segment.tone)
        DrawTone(svg_, box, *segment.tone);
      else
        svg_.Box(box, "gap");
    }
    svg_.Text(kMargin, y_ + 22, IdText(first), "soft small");
    svg_.Text(kMargin + kInnerWidth, y_ + 22, IdText(last), "soft small right");
    y_ += 32;
  }

  void DrawCards(const SequenceGraph& graph) {
    for (size_t first = 0; first < graph.items.size(); first += kCardsInRow) {
      std::vector<Card> cards;
      double above = 0, height = 0;
      for (size_t i = first; i < std::min(first + kCardsInRow, graph.items.size()); ++i) {
        cards.push_back(std::visit([&](const auto& item) { return CardOf(item, report_.clock); },
                                   graph.items[i]));
        above = std::max(above, cards.back().above());
        height = std::max(height, cards.back().height());
      }
      y_ += above;
      if (first > 0) DrawLinkIn(graph.LinkAfter(first - 1));
      for (size_t i = 0; i < cards.size(); ++i) {
        const double x = kMargin + static_cast<double>(i) * (kCardWidth + kLinkWidth);
        DrawCard(x, height, cards[i]);
        if (first + i + 1 < graph.items.size())
          DrawLink(x + kCardWidth, i + 1 < kCardsInRow, graph.LinkAfter(first + i));
      }
      y_ += height + 8;
    }
    y_ += 8;
  }

  void DrawCard(double x, double height, const Card& card) {
    svg_.BeginGroup(card.title);
    if (card.is_run) svg_.Box({x + 4, y_ + 4, kCardWidth - 4, height}, "card", 4);
    const double width = card.is_run ? kCardWidth - 4 : kCardWidth;
    svg_.Box({x, y_, width, height}, card.is_gap ? "gap" : "card", 4);
    if (!card.is_gap) svg_.Box({x, y_, 6, height}, Name(card.tone), 2);
    svg_.Text(x + kCardTextX, y_ + 16, card.id, "id");
    if (!card.right.empty()) svg_.Text(x + width - 7, y_ + 16, card.right, "soft small right");
    double line_y = y_ + kFirstLineY;
    for (const CardLine& line : card.lines) {
      svg_.Text(x + kCardTextX, line_y, line.text, line.classes);
      line_y += kCardLine;
    }
    if (!card.culprit.empty()) {
      DrawPushed(svg_, x + 14, y_ - 1);
      double culprit_y = y_ - 6 - kCulpritLine * static_cast<double>(card.culprit.size() - 1);
      for (const std::string& line : card.culprit) {
        svg_.Text(x + 24, culprit_y, line, "lost small");
        culprit_y += kCulpritLine;
      }
    }
    svg_.EndGroup();
  }

  /// From the right edge of a card to the next one, which can be in the next row.
  void DrawLink(double right, bool same_row, Link link) {
    svg_.Line(right, y_ + kLinkY, right + (same_row ? kLinkWidth : kLinkWidth / 2), y_ + kLinkY,
              ClassOf(link));
  }
  void DrawLinkIn(Link link) {
    svg_.Line(kMargin - kLinkWidth / 2, y_ + kLinkY, kMargin, y_ + kLinkY, ClassOf(link));
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
      if (card.is_gap)
        svg_.Box({x, y, kCell, kCell}, "gap", 2);
      else
        DrawTone(svg_, {x, y, kCell, kCell}, card.tone, 2);
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

}  // namespace ringscope
