#include "commands/graph/layout_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/shell/text.h"
#include "commands/view/json.h"
#include "core/session/buffer_event.h"

namespace ringscope {
namespace {

constexpr size_t kTextCellsInRow = 64;
constexpr size_t kMaxTextCells = 32 * kTextCellsInRow;
constexpr size_t kLetters = 26;

/// How a cell is written: "A" unread, "a" consumed, beyond 26 sequences "@".
std::string Symbol(const LayoutShare& share, size_t index, bool consumed) {
  if (share.kind == LayoutExtent::Kind::kPadding) return "·";
  if (share.kind == LayoutExtent::Kind::kUnused) return " ";
  if (index >= kLetters) return consumed ? "o" : "@";
  return std::string(1, static_cast<char>((consumed ? 'a' : 'A') + static_cast<int>(index)));
}

/// How a cell is written that continues the chunk of the one before.
const char* Filler(bool consumed) { return consumed ? "-" : "="; }

/// "  write cursor 0x1000" for the row of a cursor.
/// A line below the row of bytes in which a cursor is, which points at it.
std::string CursorText(const char* name, uint64_t cursor, size_t cell) {
  constexpr size_t kFirstCell = 14;  // column
  const size_t column = kFirstCell + std::min<size_t>(cell, kTextCellsInRow - 1);
  const std::string text = fmt::format("{} {:#x}", name, cursor);
  if (column + 2 + text.size() <= kTextColumns) return fmt::format("{:{}}^ {}\n", "", column, text);
  return fmt::format("{:>{}} ^\n", text, column - 1);
}

/// The cursors in a row of bytes.
std::string CursorsText(const BufferLayout& layout, uint64_t bytes_per_cell, uint64_t from,
                        uint64_t to, bool is_last) {
  std::string text;
  const auto add = [&](const char* name, uint64_t cursor) {
    if ((cursor >= from && cursor < to) || (is_last && cursor >= to))
      text += CursorText(name, cursor, (cursor - from) / bytes_per_cell);
  };
  add("write cursor", layout.write_cursor);
  if (layout.read_cursor) add("last read", *layout.read_cursor);
  return text;
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
      line += continues ? Filler(cell.consumed) : Symbol(share, cell.share, cell.consumed);
    }
    text += fmt::format("  {:#010x} │{}│\n", row * grid.bytes_per_cell, line);
    text += CursorsText(layout, grid.bytes_per_cell, row * grid.bytes_per_cell,
                        end * grid.bytes_per_cell, end == grid.cells.size());
  }
  for (size_t i = 0; i < grid.shares.size(); ++i) {
    const LayoutShare& share = grid.shares[i];
    const std::string symbol = Symbol(share, i, false);
    text += fmt::format("  {}  {}\n", symbol, ShareText(share, notes));
  }
  return text;
}

}  // namespace

std::string LayoutHeading(const BufferLayout& layout, const GraphClock& clock) {
  std::string text = fmt::format("buffer {} ({}, {}, {}) {} record {}", Raw(layout.buffer),
                                 layout.engine, HumanSize(layout.size), Name(layout.policy),
                                 layout.before_read ? "before its last read, at" : "after",
                                 WithCommas(layout.at.record.value_or(0)));
  if (layout.at.time_ns) text += fmt::format(" ({})", clock.At(layout.at));
  return text;
}

std::string ShareText(const LayoutShare& share, const SessionNotes& notes) {
  switch (share.kind) {
    case LayoutExtent::Kind::kChunk:
      return fmt::format("{}: {}, {}, {} unread", notes.NameOf(share.sequence),
                         Count(share.chunks, "chunk"), HumanSize(share.bytes),
                         HumanSize(share.unread));
    case LayoutExtent::Kind::kPadding:
      return fmt::format("padding of consumed or cleared chunks: {}", HumanSize(share.bytes));
    case LayoutExtent::Kind::kUnused:
      return fmt::format("never written: {}", HumanSize(share.bytes));
  }
  return "";
}

std::string LayoutText(const std::vector<BufferLayout>& layouts, const GraphClock& clock,
                       const SessionNotes& notes) {
  std::string text;
  for (const BufferLayout& layout : layouts)
    text += "\n" + Wrap(LayoutHeading(layout, clock), "") + "\n" + MapText(layout, notes);
  return text;
}

Json LayoutJson(const std::vector<BufferLayout>& layouts) {
  Json json = Json::array();
  for (const BufferLayout& layout : layouts) {
    Json buffer = {{"buffer", Raw(layout.buffer)},      {"engine", layout.engine},
                   {"policy", Name(layout.policy)},     {"size", layout.size},
                   {"record", layout.at.record},        {"time_ns", layout.at.time_ns},
                   {"before_read", layout.before_read}, {"write_cursor", layout.write_cursor},
                   {"last_read", layout.read_cursor},   {"wraps", layout.wraps}};
    buffer["extents"] = Json::array();
    for (const LayoutExtent& extent : layout.extents) {
      Json entry = {{"kind", Name(extent.kind)}, {"offset", extent.offset}, {"size", extent.size}};
      if (extent.kind == LayoutExtent::Kind::kChunk) {
        entry["sequence"] = ToString(extent.chunk.sequence);
        entry["chunk"] = Raw(extent.chunk.chunk);
        entry["payload_size"] = extent.payload_size;
        entry["consumed"] = extent.consumed;
        entry["incomplete"] = extent.incomplete;
        entry["needs_patching"] = extent.needs_patch;
      }
      buffer["extents"].push_back(std::move(entry));
    }
    json.push_back(std::move(buffer));
  }
  return json;
}

}  // namespace ringscope
