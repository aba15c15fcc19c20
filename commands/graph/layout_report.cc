#include "commands/graph/layout_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/shell/text.h"
#include "commands/view/json_fields.h"

namespace ringscope {

template <typename Io>
void ListFields(Io& io, LayoutExtent& extent) {
  io("kind", extent.kind, "offset", extent.offset, "size", extent.size);
  if (extent.kind == LayoutExtent::Kind::kChunk)
    io("sequence", extent.chunk.sequence, "chunk", extent.chunk.chunk, "payload_size",
       extent.payload_size, "consumed", extent.consumed, "incomplete", extent.incomplete,
       "needs_patching", extent.needs_patch);
}

template <typename Io>
void ListFields(Io& io, BufferLayout& layout) {
  io("buffer", layout.buffer, "engine", layout.engine, "policy", layout.policy, "size", layout.size,
     "record", layout.at.record, "time_ns", layout.at.time_ns, "before_read", layout.before_read,
     "write_cursor", layout.write_cursor, "wraps", layout.wraps, "extents", layout.extents);
}

namespace {

/// "buffer 1 (v2@58, 256 KiB, ring_buffer) after record 4,734 (1.836718 s)"
std::string LayoutHeading(const BufferLayout& layout, const GraphClock& clock) {
  return fmt::format(
      "buffer {} ({}, {}, {}) {}", Raw(layout.buffer), layout.engine, HumanSize(layout.size),
      Name(layout.policy),
      clock.After(layout.at, layout.before_read ? "before its last read, at" : "after"));
}

/// "2:2 (app/render): 120 chunks, 64 KiB, 60 KiB unread"
std::string ShareLine(const LayoutShare& share, const SessionNotes& notes) {
  if (share.kind == LayoutExtent::Kind::kPadding)
    return fmt::format("padding of consumed or cleared chunks: {}", HumanSize(share.bytes));
  if (share.kind == LayoutExtent::Kind::kUnused)
    return fmt::format("never written: {}", HumanSize(share.bytes));
  return fmt::format("{}: {}, {}, {} unread", notes.NameOf(share.sequence),
                     Count(share.chunks, "chunk"), HumanSize(share.bytes), HumanSize(share.unread));
}

constexpr size_t kTextCellsInRow = 64;
constexpr size_t kMaxTextCells = 32 * kTextCellsInRow;

/// Returns the sign of a cell: "A" unread, "a" consumed, beyond 26 sequences "@" and "o".
std::string Symbol(const LayoutShare& share, size_t index, bool consumed) {
  if (share.kind == LayoutExtent::Kind::kPadding) return "·";
  if (share.kind == LayoutExtent::Kind::kUnused) return " ";
  if (index >= 26) return consumed ? "o" : "@";
  return std::string(1, static_cast<char>((consumed ? 'a' : 'A') + static_cast<int>(index)));
}

/// A line below the row of bytes in which the write cursor is, which points at it.
std::string CursorText(uint64_t cursor, uint64_t cell) {
  constexpr size_t kFirstCell = 14;  // column
  const size_t column = kFirstCell + std::min<size_t>(cell, kTextCellsInRow - 1);
  const std::string text = fmt::format("write cursor {:#x}", cursor);
  if (column + 2 + text.size() <= kTextColumns) return fmt::format("{:{}}^ {}\n", "", column, text);
  return fmt::format("{:>{}} ^\n", text, column - 1);
}

std::string MapText(const BufferLayout& layout, const SessionNotes& notes) {
  const LayoutGrid grid = MakeGrid(layout, kMaxTextCells);
  std::string text = fmt::format(
      "  {} per character, {} per line\n"
      "  letters where chunks and lines begin: A== unread, a-- read\n",
      HumanSize(grid.bytes_per_cell), HumanSize(grid.bytes_per_cell * kTextCellsInRow));
  for (size_t row = 0; row < grid.cells.size(); row += kTextCellsInRow) {
    const size_t end = std::min(row + kTextCellsInRow, grid.cells.size());
    std::string line;
    for (size_t i = row; i < end; ++i) {
      const LayoutCell& cell = grid.cells[i];
      const LayoutShare& share = grid.shares[cell.share];
      const bool continues = i > row && !cell.starts && cell.share == grid.cells[i - 1].share &&
                             share.kind == LayoutExtent::Kind::kChunk;
      line += continues ? (cell.consumed ? "-" : "=") : Symbol(share, cell.share, cell.consumed);
    }
    text += fmt::format("  {:#010x} │{}│\n", row * grid.bytes_per_cell, line);
    const uint64_t cursor = layout.write_cursor / grid.bytes_per_cell;  // its cell
    if (cursor >= row && (cursor < end || end == grid.cells.size()))
      text += CursorText(layout.write_cursor, cursor - row);
  }
  for (size_t i = 0; i < grid.shares.size(); ++i)
    text += fmt::format("  {}  {}\n", Symbol(grid.shares[i], i, false),
                        ShareLine(grid.shares[i], notes));
  return text;
}

}  // namespace

std::string LayoutText(const std::vector<BufferLayout>& layouts, const GraphClock& clock,
                       const SessionNotes& notes) {
  std::string text;
  for (const BufferLayout& layout : layouts)
    text += "\n" + Wrap(LayoutHeading(layout, clock), "") + "\n" + MapText(layout, notes);
  return text;
}

Json LayoutJson(const std::vector<BufferLayout>& layouts) { return FieldsToJson(layouts); }

}  // namespace ringscope
