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

/// The beginning of a packet was overwritten before its end was committed.
template <bool kObserved, typename Store>
void V2Engine<kObserved, Store>::TallyCutOff(uint32_t slot, uint32_t first_fragment) {
  const uint64_t bytes = s_.rules.clearing_consumes_fragments ? packet_.size : first_fragment;
  store_.tally().AddOverwritten(slot, {1, bytes}, /*open=*/true);
}

/// Clears the whole buffer. @return packets that are lost by it
template <bool kObserved, typename Store>
uint64_t V2Engine<kObserved, Store>::ClearAll() {
  const uint64_t before = store_.tally().overwritten_packets();
  s_.wr = 0;
  Clear(s_.used, ChunkCommit{});
  return store_.tally().overwritten_packets() - before;
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
  store_.tally().AddDiscarded(
      commit, store_.incoming(), [&] { return BytesKnown(commit); },
      [&] { return BytesAwaiting(commit); });
}

}  // namespace ringscope::v2

#endif  // RINGSCOPE_CORE_ENGINE_V2_SHAPE_PART_H_
