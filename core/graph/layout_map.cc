#include "core/graph/layout_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/perfetto/commit_fragments.h"
#include "core/perfetto/data_loss.h"

namespace ringscope {
namespace {

using Kind = BufferEvent::Kind;

}  // namespace

void LayoutMap::OnRecord(const Op& op, const LogMoment& moment) {
  if (frozen_) return;
  if (!first_time_ns_) first_time_ns_ = op.time_ns;
  frozen_ = (moment_.record && *moment.record > *moment_.record) ||
            (moment_.offset_ns && op.time_ns && *op.time_ns > *first_time_ns_ &&
             *op.time_ns - *first_time_ns_ > *moment_.offset_ns);
  if (!frozen_) now_ = moment;
}

void LayoutMap::OnBufferSetUp(SessionBuffer& buffer) {
  if (frozen_) return;
  Buffer& added = buffers_[buffer.id];
  added.layout.buffer = buffer.id;
  added.layout.engine = buffer.info->name;
  added.layout.policy = buffer.policy;
  added.layout.size = buffer.engine->stats().buffer_size;
}

void LayoutMap::OnBufferReplaced(SessionBuffer& buffer) {
  if (!frozen_) buffers_.erase(buffer.id);
}

void LayoutMap::OnChunk(BufferId, const ChunkCommit& commit, std::optional<Refusal> refusal) {
  if (refusal || frozen_) return;
  WrittenChunk written;
  ReadWrittenChunk(commit, written);
  arriving_.clear();
  for (size_t i = 1; i < written.fragments.size(); ++i)
    arriving_.push_back(written.fragments[i].offset);
  if (!written.fragments.empty()) arriving_.push_back(written.bytes);
}

void LayoutMap::OnBufferEvent(const BufferEvent& event) {
  const auto found = buffers_.find(event.buffer);
  if (frozen_ || found == buffers_.end()) return;
  Buffer& buffer = found->second;
  switch (event.kind) {
    case Kind::kPatched:
      if (Extent* extent = Find(buffer, event.chunk.sequence, event.chunk.chunk))
        extent->extent.needs_patch = (event.flags & kNeedsPatching) != 0;
      return;
    case Kind::kCommitted:
    case Kind::kRewritten:
      return Place(buffer, event);
    case Kind::kErased:
      return Erase(buffer, event.chunk);
    case Kind::kReturned:
      buffer.layout.read_cursor.reset();
      if (const Extent* from = Find(buffer, event.chunk.sequence, event.chunk.chunk))
        buffer.layout.read_cursor = from->extent.offset;
      return Consume(buffer, event);
    case Kind::kGivenUp:
      return Consume(buffer, event);
    case Kind::kWrap:
      buffer.layout.write_cursor = 0;
      ++buffer.layout.wraps;
      return;
    case Kind::kPadding:
      TakeRoom(buffer, event.offset, event.outer_size);
      buffer.extents[event.offset].extent = {
          .kind = LayoutExtent::Kind::kPadding, .offset = event.offset, .size = event.outer_size};
      return;
    default:
      return;
  }
}

auto LayoutMap::Find(Buffer& buffer, SequenceKey sequence, ChunkId chunk) -> Extent* {
  const auto offset = buffer.chunks.find({sequence, Raw(chunk)});
  if (offset == buffer.chunks.end()) return nullptr;
  // An unsound plug-in may have put another chunk there.
  const auto found = buffer.extents.find(offset->second);
  const bool is_it = found != buffer.extents.end() &&
                     found->second.extent.kind == LayoutExtent::Kind::kChunk &&
                     found->second.extent.chunk == ChunkName{sequence, chunk};
  return is_it ? &found->second : nullptr;
}

void LayoutMap::Complain(std::string problem) {
  if (++problem_count_ > kMaxProblems) return;
  problems_ += fmt::format("record {}: {}\n", now_.record.value_or(0), problem);
}

std::string LayoutMap::problems() const {
  if (problem_count_ <= kMaxProblems) return problems_;
  return problems_ + fmt::format("and {} more\n", problem_count_ - kMaxProblems);
}

/// Cuts this room out of what is there.
void LayoutMap::TakeRoom(Buffer& buffer, uint64_t offset, uint64_t size) {
  const uint64_t end = offset + size;
  auto at = buffer.extents.upper_bound(offset);
  if (at != buffer.extents.begin()) --at;
  while (at != buffer.extents.end() && at->first < end) {
    const LayoutExtent old = at->second.extent;
    const uint64_t old_end = old.offset + old.size;
    if (old_end <= offset) {
      ++at;
      continue;
    }
    if (old.kind == LayoutExtent::Kind::kChunk) {
      Complain(fmt::format("{} at {} never left, but its space is taken", ToString(old.chunk),
                           old.offset));
      buffer.chunks.erase({old.chunk.sequence, Raw(old.chunk.chunk)});
    }
    at = buffer.extents.erase(at);
    const auto keep = [&](uint64_t from, uint64_t to) {
      if (from < to)
        buffer.extents[from].extent = {
            .kind = LayoutExtent::Kind::kPadding, .offset = from, .size = to - from};
    };
    keep(old.offset, offset);
    keep(end, old_end);
  }
  buffer.used = std::max(buffer.used, end);
}

/// A chunk is in the buffer, for the first time or in its old place.
void LayoutMap::Place(Buffer& buffer, const BufferEvent& event) {
  const Extent* const old = Find(buffer, event.chunk.sequence, event.chunk.chunk);
  if (event.kind == Kind::kRewritten && (old == nullptr || old->extent.offset != event.offset ||
                                         old->extent.size != event.outer_size))
    return Complain(
        fmt::format("{} is rewritten at {}, where it is not", ToString(event.chunk), event.offset));
  if (event.kind == Kind::kCommitted) {
    TakeRoom(buffer, event.offset, event.outer_size);
    buffer.layout.write_cursor = event.offset + event.outer_size;
    buffer.chunks[{event.chunk.sequence, Raw(event.chunk.chunk)}] = event.offset;
    if (buffer.layout.read_cursor && *buffer.layout.read_cursor >= event.offset &&
        *buffer.layout.read_cursor < buffer.layout.write_cursor)
      buffer.layout.read_cursor.reset();
  }
  Extent& placed = buffer.extents[event.offset];
  placed.extent = {.kind = LayoutExtent::Kind::kChunk,
                   .offset = event.offset,
                   .size = event.outer_size,
                   .chunk = event.chunk,
                   .payload_size = event.payload_size,
                   .consumed = event.payload_size - event.payload_avail,
                   .incomplete = event.incomplete,
                   .needs_patch = (event.flags & kNeedsPatching) != 0};
  placed.ends = arriving_;
}

void LayoutMap::Erase(Buffer& buffer, ChunkName chunk) {
  Extent* extent = Find(buffer, chunk.sequence, chunk.chunk);
  if (extent == nullptr) return;
  buffer.chunks.erase({chunk.sequence, Raw(chunk.chunk)});
  *extent = {.extent = {.kind = LayoutExtent::Kind::kPadding,
                        .offset = extent->extent.offset,
                        .size = extent->extent.size}};
}

/// A packet was taken out of the chunks that it lies in: of the first from its place on, of others
/// their first fragment.
void LayoutMap::Consume(Buffer& buffer, const BufferEvent& event) {
  const auto consume = [&](ChunkId chunk, uint32_t from, bool all) {
    Extent* extent = Find(buffer, event.chunk.sequence, chunk);
    if (extent == nullptr) return;
    const auto end = std::upper_bound(extent->ends.begin(), extent->ends.end(), from);
    const bool to_the_end =
        all || end == extent->ends.end() || std::next(end) == extent->ends.end();
    const uint32_t consumed = to_the_end ? extent->extent.payload_size : *end;
    extent->extent.consumed =
        std::max(extent->extent.consumed, std::min(consumed, extent->extent.payload_size));
  };
  const bool corrupted = event.kind == Kind::kGivenUp && event.loss_bits == kLossChunkCorrupted;
  consume(event.chunk.chunk, event.first_offset, corrupted);
  for (ChunkId chunk = event.chunk.chunk; chunk != event.last_chunk;) {
    chunk = Successor(chunk);
    consume(chunk, 0, false);
  }
}

std::vector<BufferLayout> LayoutMap::Layouts() const {
  std::vector<BufferLayout> layouts;
  for (const auto& [id, buffer] : buffers_) {
    BufferLayout& layout = layouts.emplace_back(buffer.layout);
    layout.at = now_;
    uint64_t end = 0;
    const auto fill_to = [&](uint64_t offset) {
      if (end < offset) layout.extents.push_back({.offset = end, .size = offset - end});
    };
    for (const auto& [offset, extent] : buffer.extents) {
      fill_to(offset);
      layout.extents.push_back(extent.extent);
      end = offset + extent.extent.size;
    }
    fill_to(layout.size);
  }
  return layouts;
}

}  // namespace ringscope
