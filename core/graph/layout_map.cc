#include "core/graph/layout_map.h"

#include <algorithm>
#include <utility>

#include "core/session/session_errors.h"

namespace ringscope {
namespace {

/// A read that returns this part of the largest one is large, too. After the read that empties a
/// buffer mostly follow some that return what was still on its way.
constexpr uint64_t kLargeRead = 10;

}  // namespace

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

/// Keeps where the packet read last came from: that is not always in the buffer any more.
void LayoutMap::OnBufferEvent(const BufferEvent& event) {
  LastRead& last = buffers_.at(event.buffer).last_read;
  switch (event.kind) {
    case BufferEvent::Kind::kReturned:
      last = {.chunk = event.chunk, .offset = {}};
      return;
    case BufferEvent::Kind::kErased:
      if (last.chunk == event.chunk) last = {.chunk = {}, .offset = event.offset};
      return;
    case BufferEvent::Kind::kCommitted:
      if (last.offset && *last.offset >= event.offset &&
          *last.offset < event.offset + event.outer_size)
        last = {};
      return;
    default:
      return;
  }
}

BufferLayout LayoutMap::LayoutOf(const Buffer& buffer) const {
  const SessionBuffer& session = *buffer.session;
  const BufferStats& stats = session.engine->stats();
  BufferLayout layout{.buffer = session.id,
                      .engine = session.info->name,
                      .policy = session.policy,
                      .size = stats.buffer_size,
                      .at = watch_.at(),
                      .read_cursor = buffer.last_read.offset,
                      .wraps = stats.write_wrap_count};
  uint64_t end = 0;
  const auto add = [&](const LayoutExtent& extent) {
    if (end < extent.offset) layout.extents.push_back({.offset = end, .size = extent.offset - end});
    end = extent.offset + extent.size;
    if (extent.size > 0) layout.extents.push_back(extent);
  };
  auto cursor = session.engine->VisitChunks([&](const ObservedChunk& chunk) {
    const ChunkName name{chunk.sequence, chunk.chunk};
    add({.kind = chunk.is_padding() ? LayoutExtent::Kind::kPadding : LayoutExtent::Kind::kChunk,
         .offset = chunk.offset,
         .size = chunk.outer_size,
         .chunk = name,
         .payload_size = chunk.payload_size,
         .consumed = chunk.payload_size - chunk.payload_avail,
         .incomplete = chunk.incomplete,
         .needs_patch = (chunk.flags & kNeedsPatching) != 0});
    if (buffer.last_read.chunk == name) layout.read_cursor = chunk.offset;
  });
  add({.offset = layout.size});
  if (cursor)
    layout.write_cursor = *cursor;
  else
    layout.status = InBuffer(session.id, std::move(cursor).error());
  return layout;
}

}  // namespace ringscope
