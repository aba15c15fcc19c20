#include <fmt/format.h>

#include <algorithm>

#include "commands/graph/layout_report.h"
#include "commands/shell/text.h"
#include "formats/draw/svg.h"
#include "formats/draw/svg_style.h"
#include "formats/draw/svg_text.h"

namespace ringscope {
namespace {

// All measures are pixels.
constexpr double kLayoutMargin = 24;
constexpr double kLabel = 92;
constexpr double kLayoutCell = 8;
constexpr double kRow = 16;
constexpr size_t kLayoutCellsInRow = 128;
constexpr double kMapWidth = kLayoutCell * kLayoutCellsInRow;
constexpr double kCursorSpace = 160;
constexpr double kLayoutWidth = kLayoutMargin + kLabel + kMapWidth + kCursorSpace;
constexpr double kLabelX = kLayoutMargin + kLabel + kMapWidth + 8;  // of the cursors' names
constexpr double kLayoutLine = 18;
/// Sequences with a colour of their own; the rest share the last one.
constexpr size_t kLayoutColours = 10;

std::string ClassOf(const LayoutShare& share, size_t index, bool consumed) {
  if (share.kind != LayoutExtent::Kind::kChunk) return Name(share.kind);
  return fmt::format("s{}{}", std::min(index, kLayoutColours - 1), consumed ? " consumed" : "");
}

class LayoutPicture {
 public:
  LayoutPicture(const GraphClock& clock, const SessionNotes& notes, const LayoutDetail& detail)
      : clock_(clock), notes_(notes), detail_(detail) {}

  void Draw(const BufferLayout& layout) {
    const LayoutGrid grid = MakeGrid(layout, detail_.cells);
    svg_.Text(kLayoutMargin, y_ + 14, LayoutHeading(layout, clock_), "heading");
    svg_.Text(kLayoutMargin, y_ + 32,
              fmt::format("{} to a cell, {} to a row", HumanSize(grid.bytes_per_cell),
                          HumanSize(grid.bytes_per_cell * kLayoutCellsInRow)),
              "soft");
    y_ += 44;
    DrawMap(layout, grid);
    DrawKey();
    const size_t shown = std::min(grid.shares.size(), detail_.shares);
    for (size_t i = 0; i < shown; ++i) {
      svg_.Box({kLayoutMargin, y_, 12, 12}, ClassOf(grid.shares[i], i, false), 2);
      constexpr double kTextX = kLayoutMargin + 18;
      for (const std::string& line : SvgTextLines(ShareText(grid.shares[i], notes_),
                                                  kLayoutWidth - kLayoutMargin - kTextX, "")) {
        svg_.Text(kTextX, y_ + 10, line, "");
        y_ += kLayoutLine;
      }
    }
    if (shown < grid.shares.size()) {
      svg_.Text(kLayoutMargin + 18, y_ + 10,
                fmt::format("and {} more", WithCommas(grid.shares.size() - shown)), "soft");
      y_ += kLayoutLine;
    }
    y_ += kLayoutLine;
  }
  std::string Finish() { return svg_.Finish(kLayoutWidth, y_, "layout of buffers", SvgStyle()); }

 private:
  /// The bytes of a row.
  struct Row {
    uint64_t from, to;
    uint64_t bytes_per_cell;
    bool is_last;
  };

  void DrawMap(const BufferLayout& layout, const LayoutGrid& grid) {
    const double left = kLayoutMargin + kLabel;
    for (size_t row = 0; row < grid.cells.size(); row += kLayoutCellsInRow) {
      const uint64_t offset = row * grid.bytes_per_cell;
      svg_.Text(left - 8, y_ + 11, fmt::format("{:#x}", offset), "soft small right");
      const size_t end = std::min(row + kLayoutCellsInRow, grid.cells.size());
      for (size_t i = row; i < end;) {
        size_t next = i + 1;  // after the cells that look the same
        while (next < end && LooksSame(grid.cells[i], grid.cells[next])) ++next;
        const LayoutShare& share = grid.shares[grid.cells[i].share];
        const double x = left + static_cast<double>(i - row) * kLayoutCell;
        svg_.Box({x, y_, static_cast<double>(next - i) * kLayoutCell, kRow - 2},
                 ClassOf(share, grid.cells[i].share, grid.cells[i].consumed));
        if (grid.cells[i].starts) svg_.Line(x, y_, x, y_ + kRow - 2, "edge");
        DrawName(share, x, static_cast<double>(next - i) * kLayoutCell);
        i = next;
      }
      const Row bytes{offset, end * grid.bytes_per_cell, grid.bytes_per_cell,
                      end == grid.cells.size()};
      double x = kLabelX;
      x = DrawCursor("write cursor", layout.write_cursor, bytes, x);
      if (layout.read_cursor) DrawCursor("last read", *layout.read_cursor, bytes, x);
      y_ += kRow;
    }
    y_ += 12;
  }

  /// The signs that are the same for all sequences.
  void DrawKey() {
    double x = kLayoutMargin;
    const auto add = [&](const char* meaning, const auto& draw) {
      draw();
      svg_.Text(x + 18, y_ + 10, meaning, "soft");
      x += 18 + SvgTextWidth(meaning, "soft") + 22;
    };
    add("not read yet", [&] { svg_.Box({x, y_, 12, 12}, "s9", 2); });
    add("pale: read already", [&] { svg_.Box({x, y_, 12, 12}, "s9 consumed", 2); });
    add("white line: a chunk begins", [&] {
      svg_.Box({x, y_, 12, 12}, "s9", 2);
      svg_.Line(x + 6, y_, x + 6, y_ + 12, "edge");
    });
    add("cursor, named beside its row",
        [&] { svg_.Line(x + 6, y_ - 2, x + 6, y_ + 14, "cursor"); });
    y_ += kLayoutLine + 4;
  }

  /// In a part of the map that is wide enough.
  void DrawName(const LayoutShare& share, double x, double width) {
    if (share.kind != LayoutExtent::Kind::kChunk) return;
    const std::string name = ToString(share.sequence);
    const double needed = SvgTextWidth(name, "small") + 4;
    if (needed + 4 > width) return;
    svg_.Box({x + 2, y_ + 1.5, needed, kRow - 5}, "page", 2);
    svg_.Text(x + 4, y_ + 10, name, "small");
  }

  static bool LooksSame(const LayoutCell& a, const LayoutCell& b) {
    return a.share == b.share && a.consumed == b.consumed && !b.starts;
  }

  /// A mark in the map, and its name beside the row.
  /// @return where another name can be
  double DrawCursor(const char* name, uint64_t cursor, const Row& row, double label_x) {
    if ((cursor < row.from || cursor >= row.to) && !(row.is_last && cursor >= row.to))
      return label_x;
    const double cells = static_cast<double>(std::min(cursor, row.to) - row.from) /
                         static_cast<double>(row.bytes_per_cell);
    const double x = kLayoutMargin + kLabel + kLayoutCell * cells;
    svg_.Line(x, y_ - 2, x, y_ + kRow, "cursor");
    const std::string label = fmt::format("{} {}", label_x == kLabelX ? "◂" : ",", name);
    svg_.Text(label_x, y_ + 11, label, "small");
    return label_x + SvgTextWidth(label, "small");
  }

  const GraphClock& clock_;
  const SessionNotes& notes_;
  const LayoutDetail detail_;
  SvgWriter svg_;
  double y_ = kLayoutMargin;
};

}  // namespace

std::string LayoutSvg(const std::vector<BufferLayout>& layouts, const GraphClock& clock,
                      const SessionNotes& notes, const LayoutDetail& detail) {
  LayoutPicture picture(clock, notes, detail);
  for (const BufferLayout& layout : layouts) picture.Draw(layout);
  return picture.Finish();
}

}  // namespace ringscope
