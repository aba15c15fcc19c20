#include "core/graph/layout_map.h"

#include <utility>

#include "core/session/session_errors.h"

namespace ringscope {

void LayoutMap::OnRecord(const Op& op, const LogMoment& moment) {
  if (!watch_.Passes(op, moment)) return;
  for (const auto& [id, buffer] : buffers_) Take(buffer);
}

void LayoutMap::OnBufferSetUp(SessionBuffer& buffer) { buffers_[buffer.id].session = &buffer; }

void LayoutMap::OnBufferReplaced(SessionBuffer& buffer) {
  buffers_.erase(buffer.id);
  if (!watch_.has_passed()) layouts_.erase(buffer.id);
}

void LayoutMap::OnDrainBegun(BufferId id) {
  if (!watch_.has_passed()) Take(buffers_.at(id));
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

void LayoutMap::Take(const Buffer& buffer) {
  const SessionBuffer& session = *buffer.session;
  const BufferStats& stats = session.engine->stats();
  BufferLayout& layout = layouts_[session.id];
  layout = {.buffer = session.id,
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
}

}  // namespace ringscope
