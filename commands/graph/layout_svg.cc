#include <fmt/format.h>

#include <algorithm>

#include "commands/graph/layout_report.h"
#include "commands/shell/text.h"
#include "formats/draw/svg.h"
#include "formats/draw/svg_style.h"

namespace ringscope {
namespace {

// All measures are pixels.
constexpr double kLayoutMargin = 24;
constexpr double kLabel = 92;
constexpr double kLayoutCell = 8;
constexpr double kRow = 16;
constexpr size_t kLayoutCellsInRow = 128;
constexpr double kMapWidth = kLayoutCell * kLayoutCellsInRow;
constexpr double kCursorSpace = 150;
/// Sequences with a colour of their own; the rest share the last one.
constexpr size_t kLayoutColours = 10;

std::string ClassOf(const LayoutShare& share, size_t index, bool consumed) {
  if (share.kind != LayoutExtent::Kind::kChunk) return Name(share.kind);
  return fmt::format("s{}{}", std::min(index, kLayoutColours - 1), consumed ? " consumed" : "");
}

class LayoutPicture {
 public:
  LayoutPicture(const GraphClock& clock, const LayoutDetail& detail)
      : clock_(clock), detail_(detail) {}

  void Draw(const BufferLayout& layout) {
    const LayoutGrid grid = MakeGrid(layout, detail_.cells);
    svg_.Text(kLayoutMargin, y_ + 14, LayoutHeading(layout, clock_), "heading");
    svg_.Text(
        kLayoutMargin, y_ + 32,
        fmt::format("{} to a cell, {} to a row; pale: read already", HumanSize(grid.bytes_per_cell),
                    HumanSize(grid.bytes_per_cell * kLayoutCellsInRow)),
        "soft");
    y_ += 44;
    DrawMap(layout, grid);
    const size_t shown = std::min(grid.shares.size(), detail_.shares);
    for (size_t i = 0; i < shown; ++i) {
      svg_.Box({kLayoutMargin, y_, 12, 12}, ClassOf(grid.shares[i], i, false), 2);
      svg_.Text(kLayoutMargin + 18, y_ + 10, ShareText(grid.shares[i]), "");
      y_ += 18;
    }
    if (shown < grid.shares.size()) {
      svg_.Text(kLayoutMargin + 18, y_ + 10,
                fmt::format("and {} more", WithCommas(grid.shares.size() - shown)), "soft");
      y_ += 18;
    }
    y_ += 18;
  }
  std::string Finish() {
    return svg_.Finish(kLayoutMargin + kLabel + kMapWidth + kCursorSpace, y_, "layout of buffers",
                       SvgStyle());
  }

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
        if (detail_.names) DrawName(share, x, static_cast<double>(next - i) * kLayoutCell);
        i = next;
      }
      const Row bytes{offset, end * grid.bytes_per_cell, grid.bytes_per_cell,
                      end == grid.cells.size()};
      double x = left + kMapWidth + 8;
      x = DrawCursor("write cursor", layout.write_cursor, bytes, x);
      if (layout.read_cursor) DrawCursor("last read", *layout.read_cursor, bytes, x);
      y_ += kRow;
    }
    y_ += 12;
  }

  /// In a part of the map that is wide enough.
  void DrawName(const LayoutShare& share, double x, double width) {
    constexpr double kCharacter = 6.2;
    if (share.kind != LayoutExtent::Kind::kChunk) return;
    const std::string name = ToString(share.sequence);
    const double needed = kCharacter * static_cast<double>(name.size()) + 4;
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
    svg_.Text(label_x, y_ + 11, fmt::format("◂ {}", name), "small");
    return label_x + 78;
  }

  const GraphClock& clock_;
  const LayoutDetail detail_;
  SvgWriter svg_;
  double y_ = kLayoutMargin;
};

}  // namespace

std::string LayoutSvg(const std::vector<BufferLayout>& layouts, const GraphClock& clock,
                      const LayoutDetail& detail) {
  LayoutPicture picture(clock, detail);
  for (const BufferLayout& layout : layouts) picture.Draw(layout);
  return picture.Finish();
}

}  // namespace ringscope
