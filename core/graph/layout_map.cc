#include "core/graph/layout_map.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/session/session.h"

namespace ringscope {
namespace {

/// A read that returns this part of the largest one is large, too. After the read that empties a
/// buffer mostly follow some that return what was still on its way.
constexpr uint64_t kLargeRead = 10;

using ShareKey = std::pair<LayoutExtent::Kind, SequenceKey>;

}  // namespace

LayoutGrid MakeGrid(const BufferLayout& layout, size_t max_cells) {
  LayoutGrid grid;
  grid.bytes_per_cell = 16;
  while (layout.size > grid.bytes_per_cell * max_cells) grid.bytes_per_cell *= 2;
  std::map<ShareKey, LayoutShare> shares;
  for (const LayoutExtent& extent : layout.extents) {
    LayoutShare& share = shares[{extent.kind, extent.chunk.sequence}];
    share.kind = extent.kind;
    share.sequence = extent.chunk.sequence;
    share.chunks += extent.kind == LayoutExtent::Kind::kChunk ? 1 : 0;
    share.bytes += extent.size;
    share.unread += extent.unread();
  }
  for (const auto& [key, share] : shares) grid.shares.push_back(share);
  std::ranges::sort(grid.shares, {}, [](const LayoutShare& share) {
    return std::tuple(share.kind, ~share.bytes, share.sequence);
  });
  std::map<ShareKey, size_t> index;
  for (size_t i = 0; i < grid.shares.size(); ++i)
    index[{grid.shares[i].kind, grid.shares[i].sequence}] = i;
  auto begun = layout.extents.begin(), extent = begun;
  for (uint64_t from = 0; from < layout.size; from += grid.bytes_per_cell) {
    LayoutCell& cell = grid.cells.emplace_back();
    for (; begun != layout.extents.end() && begun->offset < from + grid.bytes_per_cell; ++begun)
      cell.starts |= begun->kind == LayoutExtent::Kind::kChunk;
    const uint64_t middle = std::min(from + grid.bytes_per_cell / 2, layout.size - 1);
    while (extent->offset + extent->size <= middle) ++extent;
    cell.share = index.at({extent->kind, extent->chunk.sequence});
    cell.consumed = middle < extent->consumed_end();
  }
  return grid;
}

void LayoutMap::OnRecord(const Op& op, const LogMoment& moment) {
  if (!watch_.Passes(op, moment)) return;
  for (const auto& [id, buffer] : buffers_) layouts_[id] = LayoutOf(buffer);
}

void LayoutMap::OnBufferSetUp(SessionBuffer& buffer) { buffers_[buffer.id].session = &buffer; }

void LayoutMap::OnBufferReplaced(SessionBuffer& buffer) {
  buffers_.erase(buffer.id);
  if (!watch_.has_passed()) layouts_.erase(buffer.id);
}

void LayoutMap::OnReadBegun(BufferId id) {
  if (!before_last_read_) return;
  BufferLayout& layout = before_read_[id] = LayoutOf(buffers_.at(id));
  layout.before_read = true;
}

void LayoutMap::OnReadDone(BufferId id, uint64_t packets) {
  const auto taken = before_read_.find(id);
  if (taken == before_read_.end()) return;
  uint64_t& most = buffers_.at(id).most_read;
  if (packets > 0 && packets >= most / kLargeRead) layouts_[id] = std::move(taken->second);
  most = std::max(most, packets);
  before_read_.erase(taken);
}

void LayoutMap::OnDrainBegun(BufferId id) {
  const bool is_taken = before_last_read_ && layouts_.contains(id);
  if (!watch_.has_passed() && !is_taken) layouts_[id] = LayoutOf(buffers_.at(id));
}

BufferLayout LayoutMap::LayoutOf(const Buffer& buffer) const {
  const SessionBuffer& session = *buffer.session;
  const BufferStats& stats = session.engine->stats();
  BufferLayout layout{.buffer = session.id,
                      .engine = session.info->name,
                      .policy = session.policy,
                      .size = stats.buffer_size,
                      .at = watch_.at(),
                      .wraps = stats.write_wrap_count};
  uint64_t end = 0;
  const auto add = [&](const LayoutExtent& extent) {
    if (end < extent.offset) layout.extents.push_back({.offset = end, .size = extent.offset - end});
    end = extent.offset + extent.size;
    if (extent.size > 0) layout.extents.push_back(extent);
  };
  auto cursor = session.engine->VisitChunks([&](const ObservedChunk& chunk) {
    add({.kind = chunk.is_padding() ? LayoutExtent::Kind::kPadding : LayoutExtent::Kind::kChunk,
         .offset = chunk.offset,
         .size = chunk.outer_size,
         .chunk = {chunk.sequence, chunk.chunk},
         .payload_size = chunk.payload_size,
         .consumed = chunk.payload_size - chunk.payload_avail,
         .incomplete = chunk.incomplete,
         .needs_patch = (chunk.flags & kNeedsPatching) != 0});
  });
  add({.offset = layout.size});
  if (cursor)
    layout.write_cursor = *cursor;
  else
    layout.status = InBuffer(session.id, std::move(cursor).error());
  return layout;
}

}  // namespace ringscope
