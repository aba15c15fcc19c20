#ifndef RINGSCOPE_CORE_GRAPH_LAYOUT_GRID_H_
#define RINGSCOPE_CORE_GRAPH_LAYOUT_GRID_H_

#include <cstdint>
#include <vector>

#include "core/graph/layout_map.h"

namespace ringscope {

/// What takes a share of a buffer: one sequence, or what no sequence has.
struct LayoutShare {
  LayoutExtent::Kind kind = LayoutExtent::Kind::kUnused;
  SequenceKey sequence;  // of chunks
  uint64_t chunks = 0;
  uint64_t bytes = 0;   // headers and alignment included
  uint64_t unread = 0;  // bytes of fragments
};

/// The shares of a layout: sequences first, the largest in front; then padding, then unused.
std::vector<LayoutShare> SharesOf(const BufferLayout& layout);

/// The part of a layout that one cell of a map shows.
struct LayoutCell {
  size_t share = 0;       // index in SharesOf: who has most of it
  bool consumed = false;  // a chunk's part that was read, mostly
  bool starts = false;    // a chunk begins here
};

/// A buffer cut into cells of the same size.
struct LayoutGrid {
  uint64_t bytes_per_cell = 0;
  std::vector<LayoutShare> shares;
  std::vector<LayoutCell> cells;
};

/// @param max_cells the most there may be; cells take a multiple of 16 bytes, a power of two
LayoutGrid MakeGrid(const BufferLayout& layout, size_t max_cells);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GRAPH_LAYOUT_GRID_H_
