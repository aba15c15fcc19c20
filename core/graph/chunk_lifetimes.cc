#include "core/graph/chunk_lifetimes.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ringscope {
namespace {

using Entry = ChunkLife::Entry;
using Exit = ChunkLife::Exit;
using Kind = BufferEvent::Kind;

}  // namespace

void ChunkLifetimes::OnRecord(const Op& op, const LogMoment& moment) {
  now_ = moment;
  if (const auto* commit = std::get_if<Commit>(&op.body)) origin_ = commit->origin;
}

void ChunkLifetimes::OnChunk(BufferId buffer, const ChunkCommit& commit,
                             std::optional<Refusal> refusal) {
  current_ = {.number = ++commits_,
              .buffer = buffer,
              .chunk = {commit.sequence, commit.chunk},
              .committed = now_,
              .origin = origin_,
              .fragments = commit.fragments,
              .flags = commit.flags,
              .complete = commit.complete,
              .payload_bytes = static_cast<uint32_t>(commit.payload.size())};
  if (refusal) {
    current_.entry = Entry::kRefused;
    current_.why = Name(*refusal);
    listener_.OnChunkEntered(current_);
  }
}

void ChunkLifetimes::OnChunkDone(BufferId id, const ChunkCommit&) {
  Buffer& buffer = buffers_[Raw(id)];
  const uint64_t key = current_.chunk.Packed();
  if (current_.entry == Entry::kNotReported && buffer.held.contains(key))
    current_.entry = Entry::kUnchanged;
  if (current_.entered()) {
    End(buffer, key, Exit::kReplaced);
    buffer.held.emplace(key, current_);
    buffer.bytes += current_.outer_size;
  }
  listener_.OnChunkEntered(current_);
}

void ChunkLifetimes::OnBufferEvent(const BufferEvent& event) {
  switch (event.kind) {
    case Kind::kCommitted:
    case Kind::kRewritten:
      current_.entry = event.kind == Kind::kRewritten ? Entry::kRewritten
                       : event.moved                  ? Entry::kRelocated
                                                      : Entry::kCommitted;
      current_.offset = event.offset;
      current_.outer_size = event.outer_size;
      return;
    case Kind::kDiscarded:
      current_.entry = Entry::kDiscarded;
      current_.why = Name(event.discard);
      return;
    case Kind::kEvicting: {
      Buffer& buffer = buffers_[Raw(event.buffer)];
      const auto held = buffer.held.find(event.chunk.Packed());
      if (held == buffer.held.end()) return;
      held->second.evicted_by = event.by;
      held->second.evicted_by_number = current_.number;
      held->second.unread_bytes = event.payload_avail;
      return;
    }
    case Kind::kErased:
      return Leave(event);
    default:
      return;
  }
}

void ChunkLifetimes::Leave(const BufferEvent& event) {
  Buffer& buffer = buffers_[Raw(event.buffer)];
  const uint64_t key = event.chunk.Packed();
  const auto held = buffer.held.find(key);
  if (held == buffer.held.end()) return;
  const bool is_dropped = event.erasure == Erasure::kDropped;
  if (held->second.evicted_by) {
    End(buffer, key, Exit::kEvicted);
  } else if (is_dropped || event.erasure == Erasure::kTransferred) {
    held->second.unread_bytes = event.payload_avail;
    End(buffer, key, is_dropped ? Exit::kCleared : Exit::kMoved);
  } else {
    End(buffer, key, event.erasure == Erasure::kMoved ? Exit::kReplaced : Exit::kRead);
  }
}

void ChunkLifetimes::End(Buffer& buffer, uint64_t key, Exit exit) {
  auto held = buffer.held.extract(key);
  if (held.empty()) return;
  ChunkLife& life = held.mapped();
  buffer.bytes -= life.outer_size;
  life.exit = exit;
  life.left = now_;
  listener_.OnChunkLeft(life);
}

void ChunkLifetimes::EndAll(Buffer& buffer) {
  std::vector<std::pair<uint64_t, uint64_t>> order;  // by commit
  for (const auto& [key, life] : buffer.held) order.emplace_back(life.number, key);
  std::sort(order.begin(), order.end());
  for (const auto& [number, key] : order) End(buffer, key, Exit::kHeld);
}

void ChunkLifetimes::OnBufferReplaced(SessionBuffer& buffer) { EndAll(buffers_[Raw(buffer.id)]); }

void ChunkLifetimes::Finish() {
  std::vector<uint16_t> ids;
  for (const auto& [id, buffer] : buffers_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  for (const uint16_t id : ids) EndAll(buffers_[id]);
}

uint64_t ChunkLifetimes::HeldBytes(BufferId buffer) const {
  const auto found = buffers_.find(Raw(buffer));
  return found == buffers_.end() ? 0 : found->second.bytes;
}

}  // namespace ringscope
