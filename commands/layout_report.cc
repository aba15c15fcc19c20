#include "commands/layout_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "commands/json_output.h"
#include "commands/json_pieces.h"
#include "commands/text.h"
#include "core/journal.h"

namespace ringscope {
namespace {

constexpr size_t kCellsInRow = 64;
constexpr size_t kMaxTextCells = 32 * kCellsInRow;
constexpr size_t kLetters = 26;

/// How a cell is written: "A" unread, "a" consumed, beyond 26 sequences "@".
std::string Symbol(const LayoutShare& share, size_t index, bool consumed) {
  if (share.kind == LayoutExtent::Kind::kPadding) return "·";
  if (share.kind == LayoutExtent::Kind::kUnused) return " ";
  if (index >= kLetters) return consumed ? "o" : "@";
  return std::string(1, static_cast<char>((consumed ? 'a' : 'A') + static_cast<int>(index)));
}

/// How a cell is written that goes on with the chunk of the one before.
const char* Filler(bool consumed) { return consumed ? "-" : "="; }

/// "  write cursor 0x1000" for the row that a cursor stands in.
std::string CursorText(const BufferLayout& layout, uint64_t from, uint64_t to, bool is_last) {
  std::string text;
  const auto stands_in = [&](uint64_t cursor) {
    return (cursor >= from && cursor < to) || (is_last && cursor >= to);
  };
  if (stands_in(layout.write_cursor))
    text += fmt::format("  write cursor {:#x}", layout.write_cursor);
  if (layout.read_cursor && stands_in(*layout.read_cursor))
    text += fmt::format("  last read {:#x}", *layout.read_cursor);
  return text;
}

std::string MapText(const BufferLayout& layout) {
  const LayoutGrid grid = MakeGrid(layout, kMaxTextCells);
  std::string text = fmt::format(
      "  {} to a character, {} to a line; letters where chunks and lines begin, A== unread, a-- "
      "read\n",
      HumanSize(grid.bytes_per_cell), HumanSize(grid.bytes_per_cell * kCellsInRow));
  for (size_t row = 0; row < grid.cells.size(); row += kCellsInRow) {
    const size_t end = std::min(row + kCellsInRow, grid.cells.size());
    std::string line;
    for (size_t i = row; i < end; ++i) {
      const LayoutCell& cell = grid.cells[i];
      const LayoutShare& share = grid.shares[cell.share];
      const bool goes_on = i > row && !cell.starts && cell.share == grid.cells[i - 1].share &&
                           share.kind == LayoutExtent::Kind::kChunk;
      line += goes_on ? Filler(cell.consumed) : Symbol(share, cell.share, cell.consumed);
    }
    text += fmt::format("  {:#010x} │{}│{}\n", row * grid.bytes_per_cell, line,
                        CursorText(layout, row * grid.bytes_per_cell, end * grid.bytes_per_cell,
                                   end == grid.cells.size()));
  }
  for (size_t i = 0; i < grid.shares.size(); ++i) {
    const LayoutShare& share = grid.shares[i];
    const std::string symbol = Symbol(share, i, false);
    text += fmt::format("  {}  {}\n", symbol, ShareText(share));
  }
  return text;
}

}  // namespace

std::vector<LayoutShare> SharesOf(const BufferLayout& layout) {
  std::vector<LayoutShare> shares;
  std::map<std::pair<LayoutExtent::Kind, SequenceKey>, size_t> index;
  for (const LayoutExtent& extent : layout.extents) {
    const auto [entry, is_new] =
        index.try_emplace({extent.kind, extent.chunk.sequence}, shares.size());
    if (is_new) shares.push_back({.kind = extent.kind, .sequence = extent.chunk.sequence});
    LayoutShare& share = shares[entry->second];
    share.chunks += extent.kind == LayoutExtent::Kind::kChunk ? 1 : 0;
    share.bytes += extent.size;
    share.unread += extent.unread();
  }
  std::sort(shares.begin(), shares.end(), [](const LayoutShare& a, const LayoutShare& b) {
    if (a.kind != b.kind) return a.kind < b.kind;
    if (a.bytes != b.bytes) return a.bytes > b.bytes;
    return a.sequence < b.sequence;
  });
  return shares;
}

LayoutGrid MakeGrid(const BufferLayout& layout, size_t max_cells) {
  LayoutGrid grid;
  grid.shares = SharesOf(layout);
  grid.bytes_per_cell = 16;
  while (layout.size > grid.bytes_per_cell * max_cells) grid.bytes_per_cell *= 2;
  std::map<std::pair<LayoutExtent::Kind, SequenceKey>, size_t> index;
  for (size_t i = 0; i < grid.shares.size(); ++i)
    index[{grid.shares[i].kind, grid.shares[i].sequence}] = i;
  /// Bytes of what the cell being filled holds, by share and whether consumed.
  std::map<std::pair<size_t, bool>, uint64_t> held;
  LayoutCell cell;
  uint64_t at = 0;
  const auto add = [&](size_t share, bool consumed, uint64_t to) {
    while (at < to) {
      const uint64_t cell_end = (at / grid.bytes_per_cell + 1) * grid.bytes_per_cell;
      const uint64_t end = std::min(to, cell_end);
      held[{share, consumed}] += end - at;
      at = end;
      if (at != cell_end && at != layout.size) continue;
      const auto most =
          std::max_element(held.begin(), held.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      cell.share = most->first.first;
      cell.consumed = most->first.second;
      grid.cells.push_back(cell);
      cell = {};
      held.clear();
    }
  };
  for (const LayoutExtent& extent : layout.extents) {
    const size_t share = index.at({extent.kind, extent.chunk.sequence});
    const bool is_chunk = extent.kind == LayoutExtent::Kind::kChunk;
    cell.starts |= is_chunk;
    // The header goes with what is unread, the alignment with what was consumed last.
    const bool all_consumed = is_chunk && extent.unread() == 0;
    const uint64_t consumed_to =
        all_consumed ? extent.offset + extent.size
                     : extent.offset + (extent.consumed > 0 ? 16 + extent.consumed : 0);
    if (is_chunk) add(share, true, consumed_to);
    add(share, false, extent.offset + extent.size);
  }
  return grid;
}

std::string LayoutHeading(const BufferLayout& layout, const GraphClock& clock) {
  std::string text =
      fmt::format("buffer {} ({}, {}, {}) behind record {}", Raw(layout.buffer), layout.engine,
                  HumanSize(layout.size), Name(layout.policy), WithCommas(layout.at.record));
  if (layout.at.time_ns) text += fmt::format(" ({})", clock.At(layout.at));
  return text;
}

std::string ShareText(const LayoutShare& share) {
  switch (share.kind) {
    case LayoutExtent::Kind::kChunk:
      return fmt::format("{}: {}, {}, {} unread", ToString(share.sequence),
                         Count(share.chunks, "chunk"), HumanSize(share.bytes),
                         HumanSize(share.unread));
    case LayoutExtent::Kind::kPadding:
      return fmt::format("padding, where chunks were consumed or cleared: {}",
                         HumanSize(share.bytes));
    case LayoutExtent::Kind::kUnused:
      return fmt::format("never written: {}", HumanSize(share.bytes));
  }
  return "";
}

std::string LayoutText(const std::vector<BufferLayout>& layouts, const GraphClock& clock) {
  std::string text;
  for (const BufferLayout& layout : layouts)
    text += "\n" + LayoutHeading(layout, clock) + "\n" + MapText(layout);
  return text;
}

Json LayoutJson(const std::vector<BufferLayout>& layouts) {
  Json json = Json::array();
  for (const BufferLayout& layout : layouts) {
    Json buffer = {{"buffer", Raw(layout.buffer)},
                   {"engine", layout.engine},
                   {"policy", Name(layout.policy)},
                   {"size", layout.size},
                   {"record", layout.at.record},
                   {"time_ns", OrNull(layout.at.time_ns)},
                   {"write_cursor", layout.write_cursor},
                   {"last_read", OrNull(layout.read_cursor)},
                   {"wraps", layout.wraps}};
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
