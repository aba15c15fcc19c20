#include "core/graph/layout_map.h"

#include <algorithm>
#include <tuple>
#include <utility>

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

void MomentWatch::OnRecord(const Op& op, const LogMoment& now) {
  if (has_passed_) return;
  start_.Add(op);
  has_passed_ = (moment_.record && *now.record > *moment_.record) ||
                (moment_.offset_ns && op.time_ns && start_.ns() && *op.time_ns > *start_.ns() &&
                 *op.time_ns - *start_.ns() > *moment_.offset_ns);
  if (!has_passed_)
    at_ = now;
  else
    OnMoment();
}

void LayoutMap::OnMoment() {
  for (const auto& [id, buffer] : buffers_) layouts_[id] = LayoutOf(*buffer);
}

void LayoutMap::OnBufferReplaced(SessionBuffer& buffer) {
  MomentWatch::OnBufferReplaced(buffer);
  most_read_.erase(buffer.id);
  if (!has_passed()) layouts_.erase(buffer.id);
}

void LayoutMap::OnReadBegun(BufferId id) {
  if (!before_last_read_) return;
  BufferLayout& layout = before_read_[id] = LayoutOf(*buffers_.at(id));
  layout.before_read = true;
}

void LayoutMap::OnReadDone(BufferId id, uint64_t packets) {
  const auto taken = before_read_.find(id);
  if (taken == before_read_.end()) return;
  uint64_t& most = most_read_[id];
  if (packets > 0 && packets >= most / kLargeRead) layouts_[id] = std::move(taken->second);
  most = std::max(most, packets);
  before_read_.erase(taken);
}

void LayoutMap::OnDrainBegun(BufferId id) {
  const bool is_taken = before_last_read_ && layouts_.contains(id);
  if (!has_passed() && !is_taken) layouts_[id] = LayoutOf(*buffers_.at(id));
}

BufferLayout LayoutMap::LayoutOf(const SessionBuffer& session) const {
  const BufferStats& stats = session.engine->stats();
  BufferLayout layout{.buffer = session.id,
                      .engine = session.info->name,
                      .policy = session.policy,
                      .size = stats.buffer_size,
                      .at = at(),
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
         .consumed = chunk.consumed(),
         .incomplete = chunk.incomplete,
         .needs_patch = chunk.needs_patch()});
  });
  add({.offset = layout.size});
  if (cursor)
    layout.write_cursor = *cursor;
  else
    layout.status = InBuffer(session.id, std::move(cursor).error());
  return layout;
}

namespace {

/// @param before the chunk of the sequence that precedes this one in the buffer, or nullptr
ReadStall StallAt(const ObservedChunk& chunk, const ObservedChunk* before) {
  ReadStall stall{.chunk = {chunk.sequence, chunk.chunk}, .waits_for = chunk.chunk};
  if (before != nullptr && Successor(before->chunk) != chunk.chunk) {
    // It stays in a V1 buffer after it was read, and a read pass ends at it.
    stall.reason = StallReason::kMissingChunk;
    stall.waits_for = before->chunk;
  } else if (chunk.needs_patch()) {
    stall.reason = StallReason::kNeedsPatch;
  } else {
    stall.reason = chunk.incomplete ? StallReason::kIncomplete : StallReason::kMissingChunk;
  }
  return stall;
}

/// Finds what a pass left unread: of each sequence the oldest chunk. Nothing if the engine does not
/// report its chunks.
std::vector<ReadStall> StallsOf(const Engine& engine) {
  std::map<SequenceKey, std::vector<ObservedChunk>> sequences;
  const auto keep = [&](const ObservedChunk& chunk) {
    if (!chunk.is_padding()) sequences[chunk.sequence].push_back(chunk);
  };
  std::vector<ReadStall> stalls;
  if (!engine.VisitChunks(keep)) return stalls;
  for (auto& [sequence, chunks] : sequences) {
    // Steps from one of them: an order even where ids are further apart than any writer's.
    const ChunkId one = chunks.front().chunk;
    std::ranges::sort(
        chunks, {}, [one](const ObservedChunk& chunk) { return SignedDistance(one, chunk.chunk); });
    const auto is_unread = [](const ObservedChunk& chunk) { return chunk.payload_avail > 0; };
    const auto oldest = std::ranges::find_if(chunks, is_unread);
    if (oldest == chunks.end()) continue;
    stalls.push_back(StallAt(*oldest, oldest == chunks.begin() ? nullptr : &oldest[-1]));
    stalls.back().chunks = static_cast<uint64_t>(std::count_if(oldest, chunks.end(), is_unread));
  }
  return stalls;
}

Status Walk(const SessionBuffer& buffer, ReadWalk& walk) {
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> clone, buffer.engine->Clone());
  // An engine that does not report its chunks still shows which packets it returns.
  walk.write_cursor = clone->VisitChunks([](const ObservedChunk&) {}).value_or(0);
  clone->BeginRead();
  while (const Packet* packet = clone->NextPacket()) {
    const ChunkId chunk = packet->place.first_chunk;
    if (walk.steps.empty() || walk.steps.back().sequence != packet->sequence)
      walk.steps.push_back(
          {.number = walk.steps.size() + 1, .sequence = packet->sequence, .first_chunk = chunk});
    walk.steps.back().last_chunk = chunk;
    walk.steps.back().packets += {1, packet->size};
  }
  RS_RETURN_IF_ERROR(CheckEngine(buffer.id, *clone));
  walk.stalls = StallsOf(*clone);
  return {};
}

}  // namespace

void ReadWalks::OnReadBegun(BufferId) {
  if (!is_given() && !has_steps()) OnMoment();
}

Status ReadWalks::OnLogEnd(Session&) {
  if (!has_passed() && !has_steps()) OnMoment();
  return {};
}

bool ReadWalks::has_steps() const {
  return std::ranges::any_of(walks_, [](const ReadWalk& walk) { return !walk.steps.empty(); });
}

void ReadWalks::OnMoment() {
  walks_.clear();
  for (const auto& [id, buffer] : buffers_) {
    if (buffer->freed) continue;
    ReadWalk& walk = walks_.emplace_back();
    walk.buffer = id;
    walk.index = buffer->index;
    walk.engine = buffer->info->name;
    walk.order = buffer->info->read_order;
    walk.at = at();
    walk.status = Walk(*buffer, walk);
  }
  std::stable_sort(walks_.begin(), walks_.end(),
                   [](const ReadWalk& a, const ReadWalk& b) { return a.index < b.index; });
}

}  // namespace ringscope
