#include "core/graph/chunk_lifetimes.h"

namespace ringscope {

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
    OnChunkEntered(current_);
  }
}

void ChunkLifetimes::OnChunkDone(BufferId id, const ChunkCommit&) {
  Buffer& buffer = buffers_[id];
  const uint64_t key = current_.chunk.Packed();
  if (current_.entry == Entry::kNotReported && buffer.held.contains(key))
    current_.entry = Entry::kUnchanged;
  if (current_.entered()) {
    End(buffer, key, Exit::kReplaced);
    buffer.held.emplace(key, current_);
    buffer.bytes += current_.outer_size;
  }
  OnChunkEntered(current_);
}

void ChunkLifetimes::OnBufferEvent(const BufferEvent& event) {
  if (const ObservedChunk* state = event.arrived()) {
    const auto* const committed = event.As<BufferEvent::Committed>();
    current_.entry = committed == nullptr ? Entry::kRewritten
                     : committed->moved   ? Entry::kRelocated
                                          : Entry::kCommitted;
    current_.offset = state->offset;
    current_.outer_size = state->outer_size;
  } else if (const auto* discarded = event.As<BufferEvent::Discarded>()) {
    current_.entry = Entry::kDiscarded;
    current_.why = Name(discarded->reason);
  }
  const auto* const evicting = event.As<BufferEvent::Evicting>();
  const auto* const erased = event.As<BufferEvent::Erased>();
  if (evicting == nullptr && erased == nullptr) return;
  Buffer& buffer = buffers_[event.buffer];
  const uint64_t key = event.chunk.Packed();
  ChunkLife* const life = FindIn(buffer.held, key);
  if (life == nullptr) return;
  if (evicting != nullptr) {
    life->evicted_by_number = current_.number;
    life->unread_bytes = evicting->state.payload_avail;
  } else if (life->evicted_by_number != 0) {
    End(buffer, key, Exit::kEvicted);
  } else if (erased->is_for_clone()) {
    life->unread_bytes = erased->state.payload_avail;
    End(buffer, key, erased->why == Erasure::kDropped ? Exit::kCleared : Exit::kMoved);
  } else {
    End(buffer, key, erased->why == Erasure::kMoved ? Exit::kReplaced : Exit::kRead);
  }
}

void ChunkLifetimes::End(Buffer& buffer, uint64_t key, Exit exit) {
  auto held = buffer.held.extract(key);
  if (held.empty()) return;
  ChunkLife& life = held.mapped();
  buffer.bytes -= life.outer_size;
  life.exit = exit;
  life.left = now_;
  OnChunkLeft(life);
}

void ChunkLifetimes::EndAll(Buffer& buffer) {
  std::vector<std::pair<uint64_t, uint64_t>> order;  // by commit
  for (const auto& [key, life] : buffer.held) order.emplace_back(life.number, key);
  std::sort(order.begin(), order.end());
  for (const auto& [number, key] : order) End(buffer, key, Exit::kHeld);
}

}  // namespace ringscope
