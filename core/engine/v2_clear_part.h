#ifndef RINGSCOPE_CORE_ENGINE_V2_CLEAR_PART_H_
#define RINGSCOPE_CORE_ENGINE_V2_CLEAR_PART_H_

// Part of v2_engine.cc: how V2 clears space, and what becomes of emptied sequences.

#include "core/engine/v2_engine.h"

namespace ringscope::v2 {

/// Clears [wr, end): all chunks that start in it become padding, after their packets were read in
/// erase mode. They stay in the ring until something is written over them.
template <bool kObserved>
void V2Engine<kObserved>::Clear(uint64_t end, const ChunkCommit& by) {
  if (s_.wr >= s_.used) return;
  uint64_t cleared_to = end;
  for (ChunkRef ref = s_.chunks.begin(); ref != s_.chunks.end(); ++ref) {
    const StoredChunk& chunk = s_.chunks[ref];
    if (chunk.offset() < s_.wr || chunk.offset() >= end) break;
    if (chunk.is_padding())
      s_.stats.padding_bytes_cleared += chunk.outer_size();
    else
      ClearChunk(ref, by);
    cleared_to = chunk.end();
    // The next commit clears the next chunk, which is old, and may have to read it.
    if (ref + 1 != s_.chunks.end() && !s_.chunks[ref + 1].all_whole)
      store_.PrefetchWhole(s_.chunks[ref + 1]);
  }
  if (cleared_to > end) {
    s_.stats.padding_bytes_written += cleared_to - end;
    if constexpr (kObserved) observer_->OnPadding(end, static_cast<uint32_t>(cleared_to - end));
  }
}

template <bool kObserved>
void V2Engine<kObserved>::ClearChunk(ChunkRef ref, const ChunkCommit& by) {
  StoredChunk& chunk = s_.chunks[ref];
  const uint32_t slot = chunk.sequence;
  Sequence& sequence = s_.sequences[slot];
  s_.stalled.Invalidate(slot);
  if constexpr (kObserved) observer_->OnEvicting(Observed(chunk), by);
  if (!s_.rules.counts_lost_fragments) {
    ++s_.stats.chunks_overwritten;
    s_.stats.bytes_overwritten += chunk.outer_size();
  }

  Reader reader = MakeReader(ref);
  if (chunk.all_whole && chunk.payload_avail == chunk.payload_size &&
      sequence.chunks.front() == ref && !ReportsOverwritten()) {
    // The usual case: nobody read of it, and all its packets are whole, so that what the reader
    // would find is known without touching its bytes.
    if (s_.rules.counts_lost_fragments) {
      ++s_.stats.chunks_overwritten;
      s_.stats.bytes_overwritten += chunk.outer_size();
    }
    chunk.payload_avail = 0;
    Erase(slot);
    AddLoss(slot, kLossOverwrite, chunk.id);
    return;
  }
  bool lost_packets = false;
  const ChunkId id = chunk.id;
  while (NextOf<Mode::kErase>(reader)) {
    lost_packets = true;
    if constexpr (kObserved) {
      if (ReportsOverwritten()) observer_->OnPacketOverwritten(packet_);
    }
  }
  if (lost_packets) AddLoss(slot, kLossOverwrite, id);
}

/// Takes the padding that Clear left in [wr, end) out of the ring; what reaches beyond stays.
template <bool kObserved>
void V2Engine<kObserved>::DropClearedChunks(uint64_t end) {
  if (s_.wr >= s_.used) return;
  uint64_t cleared_to = end;
  while (!s_.chunks.empty()) {
    const StoredChunk& chunk = s_.chunks[s_.chunks.begin()];
    if (chunk.offset() < s_.wr || chunk.offset() >= end) break;
    cleared_to = chunk.end();
    s_.chunks.PopFront();
  }
  if (cleared_to > end) {
    StoredChunk rest;
    rest.offset_16 = static_cast<uint32_t>(end / 16);
    rest.size = static_cast<uint16_t>(cleared_to - end - OuterSize(0));
    s_.chunks.PushFront(rest);
  }
}

/// Takes the first chunk of a sequence out: it is remembered as the last consumed one, and its
/// place in the buffer becomes padding.
template <bool kObserved>
void V2Engine<kObserved>::Erase(uint32_t slot) {
  Sequence& sequence = s_.sequences[slot];
  StoredChunk& chunk = s_.chunks[sequence.chunks.front()];
  if constexpr (kObserved) observer_->OnErased(Observed(chunk));
  sequence.has_last = true;
  sequence.last_id = chunk.id;
  sequence.last_payload_size = chunk.payload_size;
  sequence.last_incomplete = chunk.is_incomplete();
  sequence.chunks.PopFront();
  chunk.sequence = StoredChunk::kPadding;
  chunk.flags = 0;
  if (sequence.chunks.empty()) {
    sequence.wide_ids = false;
    AddToEmpty(slot);
    ++s_.empty_counter;
  }
}

template <bool kObserved>
void V2Engine<kObserved>::AddToEmpty(uint32_t slot) {
  Sequence& sequence = s_.sequences[slot];
  sequence.listed_empty = true;
  sequence.older_empty = s_.newest_empty;
  sequence.newer_empty = Sequence::kNone;
  if (s_.newest_empty != Sequence::kNone)
    s_.sequences[s_.newest_empty].newer_empty = slot;
  else
    s_.oldest_empty = slot;
  s_.newest_empty = slot;
  ++s_.empty_listed;
}

template <bool kObserved>
void V2Engine<kObserved>::RemoveFromEmpty(uint32_t slot) {
  Sequence& sequence = s_.sequences[slot];
  sequence.listed_empty = false;
  if (sequence.older_empty != Sequence::kNone)
    s_.sequences[sequence.older_empty].newer_empty = sequence.newer_empty;
  else
    s_.oldest_empty = sequence.newer_empty;
  if (sequence.newer_empty != Sequence::kNone)
    s_.sequences[sequence.newer_empty].older_empty = sequence.older_empty;
  else
    s_.newest_empty = sequence.older_empty;
  --s_.empty_listed;
}

/// When too many sequences are empty, forgets all but those that became empty last.
template <bool kObserved>
void V2Engine<kObserved>::ForgetEmptySequences() {
  constexpr uint32_t kKept = 1024;
  constexpr uint32_t kThreshold = kKept + 128;
  if (s_.empty_counter <= kThreshold) [[likely]]
    return;
  while (s_.empty_listed > kKept) {
    const uint32_t slot = s_.oldest_empty;
    RemoveFromEmpty(slot);
    Sequence& sequence = s_.sequences[slot];
    const SequenceKey key = sequence.key;
    sequence = Sequence{};
    sequence.key = key;
  }
  s_.empty_counter = kKept;
}

template <bool kObserved>
std::string V2Engine<kObserved>::CheckInvariants() const {
  if (s_.wr > s_.size || s_.used > s_.size || s_.wr > s_.used) return "a cursor is out of bounds";
  // Buffer order starts at the cursor, or at 0 where nothing follows the cursor.
  uint64_t offset = s_.wr < s_.used ? s_.wr : 0;
  uint64_t listed = 0, held = 0, covered = 0;
  for (ChunkRef ref = s_.chunks.begin(); ref != s_.chunks.end(); ++ref) {
    const StoredChunk& chunk = s_.chunks[ref];
    if (chunk.offset() != offset) return "chunks do not tile the buffer";
    if (chunk.payload_size > chunk.size || chunk.payload_avail > chunk.payload_size)
      return "a chunk's sizes do not fit";
    held += !chunk.is_padding();
    covered += chunk.outer_size();
    offset = chunk.end() == s_.used && s_.wr != 0 ? 0 : chunk.end();
  }
  if (covered != s_.used) return "chunks do not cover the buffer";
  uint32_t empty = 0;
  for (size_t slot = 0; slot < s_.sequences.size(); ++slot) {
    const Sequence& sequence = s_.sequences[slot];
    empty += sequence.listed_empty ? 1 : 0;
    if (sequence.listed_empty && !sequence.chunks.empty()) return "an empty sequence has chunks";
    listed += sequence.chunks.size();
    for (uint32_t i = 0; i < sequence.chunks.size(); ++i) {
      const StoredChunk& chunk = s_.chunks[sequence.chunks[i]];
      if (chunk.sequence != slot) return "a sequence lists another's chunk";
      if (i > 0 && !sequence.wide_ids && !Precedes(s_.chunks[sequence.chunks[i - 1]].id, chunk.id))
        return "a sequence's list is not sorted";
    }
  }
  if (listed != held) return "chunks held and chunks listed differ";
  if (empty != s_.empty_listed) return "the list of empty sequences is wrong";
  return "";
}

}  // namespace ringscope::v2

#endif  // RINGSCOPE_CORE_ENGINE_V2_CLEAR_PART_H_
