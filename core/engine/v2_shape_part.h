#ifndef RINGSCOPE_CORE_ENGINE_V2_SHAPE_PART_H_
#define RINGSCOPE_CORE_ENGINE_V2_SHAPE_PART_H_

// Part of v2_engine.cc: what a buffer without payloads knows of packets, and how it counts those
// that it loses. Only compiled for such a buffer.

#include "core/engine/v2_engine.h"

namespace ringscope::v2 {

void V2ShapeEngine::CommitShape(const ChunkCommit& commit, const ChunkShape& shape) {
  if (StoreFailed()) return;
  store().SetIncoming(shape);
  Take(commit);
  StoreFailed();
}

/// Whether something happened that cannot be decided without payloads. Nothing is done then.
template <bool kObserved, typename Store>
bool V2Engine<kObserved, Store>::StoreFailed() {
  if constexpr (!Store::kHasBytes) return this->FailFor(store_.problem());
  return false;
}

template <bool kObserved, typename Store>
void V2Engine<kObserved, Store>::SetShape(uint32_t slot, ChunkRef first) {
  shape_ = {.committed_ns = store_.committed_ns(first), .slot = slot, .traits = store_.traits()};
}

/// Consumes the whole fragment `first` of the chunk, and those that follow it and can be one packet
/// with it: packet_ and shape_ are of all of them.
template <bool kObserved, typename Store>
template <Mode kMode>
void V2Engine<kObserved, Store>::TakeWhole(Reader& reader, ChunkRef ref, StoredChunk& chunk,
                                           const Fragment& first) {
  const WholePackets whole = store_.ReadWhole(chunk, first, /*same_traits=*/kMode == Mode::kRead);
  reader.position = whole.end;
  Consume<kMode>(chunk, whole.end - first.offset);
  SetWhole(reader.slot, ref, chunk, first);
  packet_.size = whole.bytes;
  shape_.packets = whole.packets;
}

/// The beginning of a packet is overwritten while its rest is not all there, or while the reader
/// cannot put it together.
/// @param first the chunk where it begins @param first_fragment bytes
template <bool kObserved, typename Store>
void V2Engine<kObserved, Store>::TallyCutOff(uint32_t slot, ChunkId first, uint32_t first_fragment,
                                             Chain outcome) {
  // What the reader leaves there it finds again, without its beginning.
  const bool takes = outcome != Chain::kUnfinished || s_.rules.clearing_consumes_fragments;
  const uint64_t bytes = takes ? packet_.size : first_fragment;
  ShapeStore::CutOff& cut_off = store_.PartsOf(slot).cut_off;
  // Of one that lacks a chunk, that will not be taken any more.
  if (cut_off.open && cut_off.counts)
    store_.SetProblem("two packets of a writer were overwritten in parts");
  cut_off = {.open = true,
             .next = Successor(takes ? packet_.place.last_chunk : first),
             .count = {bytes > 0 ? 1u : 0u, bytes}};
  CountCutOff(slot, true);
  FollowCutOff(slot, /*was_lost=*/false);
}

template <bool kObserved, typename Store>
void V2Engine<kObserved, Store>::CountCutOff(uint32_t slot, bool counts) {
  ShapeStore::CutOff& cut_off = store_.PartsOf(slot).cut_off;
  if (cut_off.counts == counts) return;
  cut_off.counts = counts;
  if (counts)
    store_.tally().AddOverwritten(slot, cut_off.count);
  else
    store_.tally().TakeBackOverwritten(slot, cut_off.count);
}

/// Adds the fragments of the packet that was cut off, as far as they are in the buffer. As long as
/// a chunk of it is missing though later ones came, it is not overwritten but cut.
/// @param was_lost before the next of them came. Else its writer may have broken or aborted the
/// packet before: then it was not lost to this.
template <bool kObserved, typename Store>
void V2Engine<kObserved, Store>::FollowCutOff(uint32_t slot, bool was_lost) {
  ShapeStore::CutOff& cut_off = store_.PartsOf(slot).cut_off;
  const Sequence& sequence = s_.sequences[slot];
  while (cut_off.open) {
    const uint32_t at = FindChunkAnywhere(sequence, cut_off.next);
    if (store_.PartsOf(slot).IsAborted(cut_off.next)) {
      cut_off.open = false;
      return CountCutOff(slot, was_lost);
    }
    Fragment fragment;
    const bool has_any =
        at != kNotFound && store_.Read(sequence.chunks[at], s_.chunks[sequence.chunks[at]], 0,
                                       fragment) == FragmentStatus::kFragment;
    if (!has_any && store_.PartsOf(slot).discarded == cut_off.next) {
      cut_off.open = false;
      return CountCutOff(slot, false);
    }
    if (at == kNotFound) {
      const ChunkId newest =
          sequence.chunks.empty() ? sequence.last_id : s_.chunks[sequence.chunks.back()].id;
      return CountCutOff(slot, !Precedes(cut_off.next, newest));
    }
    CountCutOff(slot, true);
    const StoredChunk& chunk = s_.chunks[sequence.chunks[at]];
    if (!has_any) {
      if (chunk.is_incomplete()) return;
      cut_off.next = Successor(cut_off.next);  // it is passed over
      continue;
    }
    const FragmentKind kind = KindOf(fragment, chunk.payload_size, chunk.flags);
    if (kind == FragmentKind::kWhole || kind == FragmentKind::kBegin) {
      cut_off.open = false;
      if (!was_lost) CountCutOff(slot, false);
      return;
    }
    // A packet without a byte is none.
    const PacketCount more{cut_off.count.packets == 0 && fragment.size() > 0 ? 1u : 0u,
                           fragment.size()};
    cut_off.count += more;
    store_.tally().AddOverwritten(slot, more);
    cut_off.open = kind == FragmentKind::kContinue;
    cut_off.next = Successor(cut_off.next);
  }
}

/// Clears the whole buffer. @return packets that are lost by it
template <bool kObserved, typename Store>
uint64_t V2Engine<kObserved, Store>::ClearAll() {
  const uint64_t before = store_.tally().overwritten_packets();
  s_.wr = 0;
  Clear(s_.used, ChunkCommit{});
  return store_.tally().overwritten_packets() - before;
}

inline uint64_t V2ShapeEngine::TakeStuckPackets() {
  const uint64_t stuck = ClearAll();
  if (store().tally().LacksBeginnings())
    FailFor("a part of a packet was discarded whose beginning is not in the buffer");
  return stuck;
}

/// Bytes in the buffer of the packet that the commit's first fragment continues.
template <bool kObserved, typename Store>
uint64_t V2Engine<kObserved, Store>::BytesAwaiting(const ChunkCommit& commit) {
  const uint32_t slot = s_.slots.Find(commit.sequence);
  if (slot == KeyIndex::kNone) return 0;
  const ChunkList& list = s_.sequences[slot].chunks;
  uint64_t bytes = 0;
  ChunkId next = commit.chunk;
  for (uint32_t i = list.size(); i-- > 0;) {
    const StoredChunk& chunk = s_.chunks[list[i]];
    if (!Precedes(chunk.id, commit.chunk)) continue;
    Fragment last;
    if (Successor(chunk.id) != next || !store_.ReadLast(list[i], last)) break;
    const FragmentKind kind = KindOf(last, chunk.payload_size, chunk.flags);
    if (kind != FragmentKind::kBegin && kind != FragmentKind::kContinue) break;
    bytes += last.size();
    if (kind == FragmentKind::kBegin) break;
    next = chunk.id;
  }
  return bytes;
}

/// Bytes of a chunk that is refused whose packets are accounted for already: it is in the
/// buffer, or was.
template <bool kObserved, typename Store>
uint32_t V2Engine<kObserved, Store>::BytesKnown(const ChunkCommit& commit) {
  const uint32_t slot = s_.slots.Find(commit.sequence);
  if (slot == KeyIndex::kNone) return 0;
  const Sequence& sequence = s_.sequences[slot];
  const uint32_t at = FindChunkAnywhere(sequence, commit.chunk);
  if (at != kNotFound) return s_.chunks[sequence.chunks[at]].payload_size;
  if (!sequence.has_last || Precedes(sequence.last_id, commit.chunk)) return 0;
  if (sequence.last_id == commit.chunk) return sequence.last_payload_size;
  store_.SetProblem("a chunk was committed after newer ones were consumed");
  return 0;
}

template <bool kObserved, typename Store>
void V2Engine<kObserved, Store>::TallyDiscarded(const ChunkCommit& commit) {
  bool lacks_beginning = false;
  if ((commit.flags & kFirstContinues) != 0) {
    if (BytesAwaiting(commit) > 0)
      store_.PartsOf(s_.slots.Find(commit.sequence)).discarded = commit.chunk;
    else
      lacks_beginning =
          !store_.tally().HasDiscarded(commit.sequence, ChunkId{Raw(commit.chunk) - 1}) &&
          BytesKnown(commit) == 0 && !store_.incoming().fragments.empty();
  }
  store_.tally().AddDiscarded(
      commit, store_.incoming(), [&] { return BytesKnown(commit); },
      [&] { return BytesAwaiting(commit); });
  if (lacks_beginning) store_.tally().NoteNoBeginning(commit.sequence, commit.chunk);
}

}  // namespace ringscope::v2

#endif  // RINGSCOPE_CORE_ENGINE_V2_SHAPE_PART_H_
