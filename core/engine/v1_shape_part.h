#ifndef RINGSCOPE_CORE_ENGINE_V1_SHAPE_PART_H_
#define RINGSCOPE_CORE_ENGINE_V1_SHAPE_PART_H_

// Part of v1_engine.cc: how a buffer without payloads counts the packets that it loses. A packet is
// overwritten when the chunk in which it begins leaves the buffer with it. What the ledger finds by
// following every packet has to come out, so that what is not as correct writers do it is a
// problem.

#include <algorithm>

#include "core/engine/v1_engine.h"

namespace ringscope::v1 {

inline void V1ShapeEngine::CommitShape(const ChunkCommit& commit, const ChunkShape& shape) {
  if (StoreFailed()) return;
  store().SetIncoming(shape);
  Take(commit);
  StoreFailed();
}

/// Whether something happened that cannot be decided without payloads. Nothing is done then.
template <typename Store>
bool V1Engine<Store>::StoreFailed() {
  if constexpr (!Store::kHasBytes) return this->FailFor(store_.problem());
  return false;
}

/// Adds the packets that follow in the chunk, and can be one packet with it, to the whole one that
/// was just read.
template <typename Store>
void V1Engine<Store>::JoinFollowing(Chunk& chunk) {
  if (chunk.fragments_read == chunk.fragments) return;
  const WholePackets whole = store_.ReadWhole(CurrentSlot(), chunk);
  if (whole.fragments == 0) return;
  chunk.fragments_read = static_cast<uint16_t>(chunk.fragments_read + whole.fragments);
  chunk.next_fragment = whole.end;
  CountIfReadOut(chunk);
  packet_.size += whole.bytes;
  shape_.packets += whole.packets;
}

/// Takes all chunks out. @return packets that are lost by it
template <typename Store>
uint64_t V1Engine<Store>::ClearAll() {
  const uint64_t before = store_.tally().overwritten_packets();
  for (; !records_.empty(); records_.PopFront()) {
    const Record& record = records_[records_.begin()];
    if (!record.is_padding()) Erase(record.chunk, ChunkCommit{});
  }
  return store_.tally().overwritten_packets() - before;
}

/// A chunk that is not in the buffer was committed.
template <typename Store>
void V1Engine<Store>::TallyNew(ChunkSlot slot, const ChunkCommit& commit) {
  const uint32_t sequence = chunks_[slot].sequence;
  ShapeStore::Losses& losses = store_.LossesOf(sequence);
  const ChunkId id = commit.chunk;
  const bool is_first = losses.gone_count == 0 && sequences_[sequence].chunks.empty();
  if (is_first || Precedes(ChunkId{losses.newest}, id)) {
    if (losses.open && Raw(id) != losses.open_next)
      store_.SetProblem("a packet that was overwritten lacks a chunk");
    losses.newest = Raw(id);
    return;
  }
  if (losses.gone_count == 0 || Precedes(ChunkId{losses.newest_gone}, id)) return;
  const uint32_t remembered = std::min(losses.gone_count, ShapeStore::Losses::kRemembered);
  for (ShapeStore::Gone& gone : std::span(losses.gone).first(remembered))
    if (gone.id == Raw(id)) return TakeBack(slot, gone);
  store_.SetProblem("a chunk was committed long after newer ones were overwritten");
}

/// The chunk is in the buffer again: what was lost with it is not lost after all.
template <typename Store>
void V1Engine<Store>::TakeBack(ChunkSlot slot, ShapeStore::Gone& gone) {
  // The ledger forgets chunks after twice as many.
  constexpr uint32_t kMaxChunks = 4096, kMaxPackets = 32768;
  if (store_.chunks_gone() - gone.chunks_before > kMaxChunks ||
      store_.packets_gone() - gone.packets_before > kMaxPackets)
    return store_.SetProblem("a chunk was committed again long after it was overwritten");
  const Chunk& chunk = chunks_[slot];
  const uint32_t sequence = chunk.sequence;
  if (gone.fragments > store_.CountOf(slot) || store_.BeginOf(slot, gone.fragments) != gone.bytes)
    return store_.SetProblem("a chunk was re-committed with other fragments");
  ShapeStore::Losses& losses = store_.LossesOf(sequence);
  PacketCount there{gone.lost_packets, gone.lost_bytes};
  if (gone.cut_off) {
    if (!losses.open || losses.open_next != chunk.id + 1)
      return store_.SetProblem("the beginning of a packet was committed again after its rest");
    there += losses.open_count;
    losses.open = false;
  }
  if (chunk.first_continues() && FindChunk(sequences_[sequence], chunk.id - 1) != nullptr)
    return store_.SetProblem("the rest of a packet was committed again after its beginning");
  store_.tally().TakeBackOverwritten(sequence, there);
  store_.SetAccounted(slot, gone.accounted);
  gone.id = chunk.id - 1;  // another's, of which nothing is known
  gone.chunks_before = store_.chunks_gone() - kMaxChunks - 1;
}

/// A chunk's fragments are in the buffer, or more of them than before.
template <typename Store>
void V1Engine<Store>::TallyKnown(uint32_t sequence, ChunkSlot slot) {
  store_.tally().SetUsedBytes(stats_.write_wrap_count == 0 ? wr_ : size_);
  ShapeStore::Losses& losses = store_.LossesOf(sequence);
  if (losses.open && losses.open_next == chunks_[slot].id) FollowCutOff(sequence, true);
}

/// The beginning of a packet leaves the buffer with its chunk, before any read could return it.
template <typename Store>
void V1Engine<Store>::TallyCutOff(uint32_t sequence, const Chunk& chunk, uint32_t first_fragment) {
  ShapeStore::Losses& losses = store_.LossesOf(sequence);
  if (losses.open) store_.SetProblem("two packets of a writer were overwritten in parts");
  losses.open = true;
  losses.open_next = chunk.id + 1;
  losses.open_count = {first_fragment > 0 ? 1u : 0u, first_fragment};
  store_.tally().AddOverwritten(sequence, losses.open_count);
  FollowCutOff(sequence, false);
}

/// Adds the fragments of the packet that was cut off, as far as they are in the buffer.
/// @param was_lost before the next of them came. Else its writer may have broken or aborted the
/// packet before: then it was not lost to this.
template <typename Store>
void V1Engine<Store>::FollowCutOff(uint32_t sequence, bool was_lost) {
  ShapeStore::Losses& losses = store_.LossesOf(sequence);
  while (losses.open) {
    const ChunkSlot slot = FindChunkSlot(sequences_[sequence], losses.open_next);
    if (slot == kNoChunk) {
      if (losses.has_discarded && losses.discarded == losses.open_next) {
        losses.open = false;
        store_.tally().TakeBackOverwritten(sequence, losses.open_count);
      } else if (!Precedes(ChunkId{losses.newest}, ChunkId{losses.open_next})) {
        store_.SetProblem("a packet that was overwritten lacks a chunk");
      }
      return;
    }
    const Chunk& chunk = chunks_[slot];
    if (chunk.fragments == 0) {
      if (!chunk.complete) return;
      ++losses.open_next;  // it is passed over
      continue;
    }
    if (!chunk.first_continues() || store_.CountOf(slot) == 0) {
      losses.open = false;
      if (!was_lost) store_.tally().TakeBackOverwritten(sequence, losses.open_count);
      return;
    }
    if (chunk.fragments_read > 0)
      store_.SetProblem("the rest of a packet was read before its beginning");
    const uint64_t size = store_.SizeOf(slot, 0);
    // A packet without a byte is none.
    const PacketCount more{losses.open_count.packets == 0 && size > 0 ? 1u : 0u, size};
    losses.open_count += more;
    store_.tally().AddOverwritten(sequence, more);
    losses.open = chunk.fragments == 1 && chunk.last_continues();
    ++losses.open_next;
  }
}

/// Whether the packet that continues in this chunk begins in the buffer, unread.
template <typename Store>
bool V1Engine<Store>::HoldsBeginningOf(uint32_t sequence, uint32_t id) {
  while (true) {
    const Chunk* const before = FindChunk(sequences_[sequence], --id);
    if (before == nullptr || before->fragments_read == before->fragments) return false;
    if (!before->last_continues()) return false;
    if (before->fragments > 1 || !before->first_continues()) return true;
  }
}

/// A chunk leaves the buffer; it is still in its sequence's list.
template <typename Store>
void V1Engine<Store>::TallyErased(ChunkSlot slot) {
  const Chunk& chunk = chunks_[slot];
  const uint32_t sequence = chunk.sequence;
  ShapeStore::Losses& losses = store_.LossesOf(sequence);
  ShapeStore::Gone gone;
  gone.id = chunk.id;
  gone.chunks_before = store_.chunks_gone();
  gone.packets_before = store_.packets_gone();
  gone.accounted = std::max(chunk.fragments_read, store_.AccountedOf(slot));
  const uint32_t count = store_.CountOf(slot);
  gone.fragments = static_cast<uint16_t>(count);
  gone.bytes = static_cast<uint16_t>(store_.BeginOf(slot, count));
  const bool ends_packet = gone.accounted == 0 && count > 0 && chunk.first_continues();
  const bool begins_packet = chunk.last_continues() && count == chunk.fragments &&
                             count > gone.accounted && !(ends_packet && count == 1);
  // The others are whole packets.
  const uint32_t first = gone.accounted + (ends_packet ? 1u : 0u);
  const PacketCount whole = store_.ContentOf(slot, first, count - (begins_packet ? 1u : 0u));
  gone.lost_packets = static_cast<uint32_t>(whole.packets);
  gone.lost_bytes = static_cast<uint32_t>(whole.bytes);
  // Its packet counts where it begins, which has left before.
  if (ends_packet && HoldsBeginningOf(sequence, chunk.id))
    store_.SetProblem("the rest of a packet was overwritten before its beginning");
  if (begins_packet) {
    gone.cut_off = true;
    TallyCutOff(sequence, chunk, store_.SizeOf(slot, count - 1));
  }
  store_.tally().AddOverwritten(sequence, {gone.lost_packets, gone.lost_bytes});
  store_.AddGone(gone.lost_packets + (gone.cut_off ? 1 : 0));
  if (losses.gone_count == 0 || Precedes(ChunkId{losses.newest_gone}, ChunkId{chunk.id}))
    losses.newest_gone = chunk.id;
  losses.gone[losses.gone_count++ % ShapeStore::Losses::kRemembered] = gone;
  store_.Release(slot);
}

template <typename Store>
void V1Engine<Store>::TallyDiscarded(const ChunkCommit& commit) {
  const uint32_t sequence = slots_.Find(commit.sequence);
  const auto [count, flags] = FinishedPartOf(commit.fragments, commit.flags, commit.complete);
  const auto fragments = store_.incoming().fragments;
  const auto readable = std::min<size_t>(count, fragments.size());
  const uint32_t bytes = readable == 0 ? 0 : fragments[readable - 1].end;
  // Where chunks are overwritten, too, the same packet must not be lost twice.
  bool in_parts = (flags & (kFirstContinues | kLastContinues)) != 0;
  uint32_t known = 0;  // bytes
  if (sequence != KeyIndex::kNone) {
    ShapeStore::Losses& losses = store_.LossesOf(sequence);
    const ChunkSlot slot = FindChunkSlot(sequences_[sequence], Raw(commit.chunk));
    const Chunk* const before = FindChunk(sequences_[sequence], Raw(commit.chunk) - 1);
    in_parts |= losses.open || (before != nullptr && before->last_continues());
    if (slot != kNoChunk)
      known = store_.BeginOf(slot, store_.CountOf(slot));
    else if (losses.gone_count > 0 && !Precedes(ChunkId{losses.newest_gone}, commit.chunk))
      store_.SetProblem("a chunk that left the buffer was discarded when it was re-committed");
    if (slot == kNoChunk && before != nullptr && before->last_continues()) {
      losses.has_discarded = true;
      losses.discarded = Raw(commit.chunk);
    }
  }
  if (!discards_ && in_parts && bytes > known)
    store_.SetProblem("a part of a packet was discarded");
  const auto bytes_awaiting = [&]() -> uint64_t {
    uint64_t awaiting = 0;
    if (sequence == KeyIndex::kNone) return awaiting;
    for (uint32_t id = Raw(commit.chunk) - 1;; --id) {
      const ChunkSlot slot = FindChunkSlot(sequences_[sequence], id);
      if (slot == kNoChunk) return awaiting;
      const Chunk& chunk = chunks_[slot];
      const uint32_t held = store_.CountOf(slot);
      if (!chunk.last_continues() || held == 0 || held != chunk.fragments) return awaiting;
      awaiting += store_.SizeOf(slot, held - 1);
      if (held > 1 || !chunk.first_continues()) return awaiting;
    }
  };
  store_.tally().AddDiscarded(
      commit, store_.incoming(), [&] { return known; }, bytes_awaiting);
}

}  // namespace ringscope::v1

#endif  // RINGSCOPE_CORE_ENGINE_V1_SHAPE_PART_H_
