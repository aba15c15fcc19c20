#include "core/graph/layout_grid.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ringscope {

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

}  // namespace ringscope
