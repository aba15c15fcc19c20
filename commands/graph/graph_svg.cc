#include "commands/graph/graph_report.h"
#include "formats/draw/svg.h"

namespace ringscope {
namespace {

// All measures are pixels.
constexpr double kMargin = 24;
constexpr double kInnerWidth = 1000;
constexpr double kRowHeight = 17;
constexpr double kSignWidth = 24;
constexpr double kLinkX = kMargin + kSignWidth + 6;
constexpr double kIdX = kLinkX + 10;

/// The style class of a tie.
std::string ClassOf(Link link) { return std::string("link-") + Name(link); }

/// Draws a box that shows a tone by its colour, and by marks for those who do not see colours.
/// @param tone absent: ids without a chunk
void DrawTone(SvgWriter& svg, const SvgBox& box, std::optional<Tone> tone) {
  constexpr double kLeastMarked = 4;
  if (!tone) return svg.Box(box, "gap");
  if (*tone == Tone::kUnread && box.width > kLeastMarked)
    return svg.Box({box.x + 1, box.y + 1, box.width - 2, box.height - 2}, "hollow");
  svg.Box(box, Name(*tone));
  if (box.width < kLeastMarked) return;
  const double middle = box.y + box.height / 2;
  if (*tone == Tone::kLost || *tone == Tone::kPartly)
    svg.Line(box.x, middle, box.x + box.width, middle,
             *tone == Tone::kLost ? "struck" : "half-struck");
  if (*tone == Tone::kWaiting)
    for (double x = box.x + 4; x < box.x + box.width; x += 4)
      svg.Line(x, box.y, x, box.y + box.height, "barred");
}

/// Draws graphs one below the other: all chunks to scale, then a line for each row.
class GraphPicture {
 public:
  explicit GraphPicture(const GraphReport& report) : report_(report) {}

  std::string Draw() {
    const std::string path = Printable(report_.outcome.path);
    DrawText(path, "title", 22);
    if (!report_.graphs.empty()) DrawLegend();
    for (const SequenceGraph& graph : report_.graphs) DrawGraph(graph);
    DrawText(report_.ClosingText(), "soft", 14);
    return svg_.Finish(kInnerWidth + 2 * kMargin, y_ + kMargin, "chunks of " + path);
  }

 private:
  void DrawText(const std::string& text, const char* classes, double height, double x = kMargin) {
    for (const std::string& line : SvgTextLines(text, kMargin + kInnerWidth - x, classes)) {
      svg_.Text(x, y_ + height - 4, line, classes);
      y_ += height;
    }
  }

  void DrawLegend() {
    double x = kMargin;
    const auto add = [&](const char* text, const auto& draw) {
      const double width = kSignWidth + 28 + SvgTextWidth(text, "soft");
      if (x + width > kMargin + kInnerWidth) x = kMargin, y_ += 22;
      draw(x);
      svg_.Text(x + kSignWidth + 6, y_ + 10, text, "soft");
      x += width;
    };
    const auto add_tone = [&](const char* text, std::optional<Tone> tone) {
      add(text, [&](double at) { DrawTone(svg_, {at, y_, kSignWidth, 12}, tone); });
    };
    for (const ToneRow& row : kEnumRows<Tone>)
      if (row.value != Tone::kUnknown) add_tone(row.text, row.value);
    add_tone("ids without a chunk", std::nullopt);
    for (const EnumRow<Link>& row : kEnumRows<Link>)
      if (row.value != Link::kNone)
        add(row.text,
            [&](double at) { svg_.Line(at, y_ + 6, at + kSignWidth, y_ + 6, ClassOf(row.value)); });
    y_ += 30;
  }

  void DrawGraph(const SequenceGraph& graph) {
    std::vector<GraphRow> rows;
    for (const GraphItem& item : graph.items)
      rows.push_back(RowOf(item, report_.outcome.first_time_ns));
    DrawText(report_.HeadingText(graph), "heading", 18);
    DrawText(GraphReport::SummaryText(graph), "soft", 15);
    DrawStrip(rows);
    DrawRows(graph, rows);
    y_ += 16;
  }

  /// All ids from left to right, to scale.
  void DrawStrip(const std::vector<GraphRow>& rows) {
    if (rows.empty()) return;
    const uint64_t first = rows.front().first;
    const double scale = kInnerWidth / static_cast<double>(rows.back().last - first + 1);
    for (size_t i = 0, next = 0; i < rows.size(); i = next) {
      while (next < rows.size() && rows[next].tone == rows[i].tone) ++next;
      const double x = kMargin + static_cast<double>(rows[i].first - first) * scale;
      const double width = static_cast<double>(rows[next - 1].last - rows[i].first + 1) * scale;
      DrawTone(svg_, {x, y_, std::max(width, 1.0), 10}, rows[i].tone);
    }
    y_ += 18;
  }

  void DrawRows(const SequenceGraph& graph, const std::vector<GraphRow>& rows) {
    // Columns as wide as their widest text.
    double ids = SvgTextWidth("chunk", "soft"), committed = SvgTextWidth("committed", "soft");
    double bytes = SvgTextWidth("size", "soft");
    for (const GraphRow& row : rows) {
      ids = std::max(ids, SvgTextWidth(row.ids(), "id"));
      committed = std::max(committed, SvgTextWidth(row.committed, "soft"));
      bytes = std::max(bytes, SvgTextWidth(row.bytes + " B", "soft"));
    }
    const double committed_end = kIdX + ids + 16 + committed;
    const double bytes_end = committed_end + 16 + bytes;
    svg_.Text(kIdX, y_ + 13, "chunk", "soft");
    svg_.Text(committed_end, y_ + 13, "committed", "soft right");
    svg_.Text(bytes_end, y_ + 13, "size", "soft right");
    svg_.Text(bytes_end + 16, y_ + 13, "what became of it", "soft");
    y_ += kRowHeight;
    for (size_t i = 0; i < rows.size(); ++i) {
      const GraphRow& row = rows[i];
      const double top = y_;
      DrawTone(svg_, {kMargin, top + 2, kSignWidth, 12}, row.tone);
      svg_.Text(kIdX, top + 13, row.ids(), "id");
      if (row.tone) {
        svg_.Text(committed_end, top + 13, row.committed, "soft right");
        svg_.Text(bytes_end, top + 13, row.bytes + " B", "soft right");
      }
      DrawText(row.fate, "", kRowHeight, bytes_end + 16);
      const Link link = graph.LinkAfter(i);
      if (link != Link::kNone) svg_.Line(kLinkX, top + 8, kLinkX, y_ + 8, ClassOf(link));
    }
  }

  const GraphReport& report_;
  SvgWriter svg_;
  double y_ = kMargin;
};

}  // namespace

std::string GraphSvg(const GraphReport& report) { return GraphPicture(report).Draw(); }

}  // namespace ringscope
