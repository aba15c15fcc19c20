#ifndef RINGSCOPE_CORE_V2_TALLY_INL_H_
#define RINGSCOPE_CORE_V2_TALLY_INL_H_

// Part of v2_engine.cc: what a buffer without payloads tells of packets, and how it counts those
// that it loses. Only compiled for it.

#include "core/v2_engine.h"

namespace ringscope::v2 {

/// Whether something came up that can not be decided without payloads. Nothing is done then.
template <bool kObserved, typename Store>
bool V2Engine<kObserved, Store>::StoreFailed() {
  if constexpr (!Store::kHasBytes) {
    if (store_.problem() == nullptr) [[likely]]
      return false;
    if (failure() == nullptr) SetFailure(Error{ErrorCode::kUnsupported, store_.problem(), {}, {}});
    return true;
  }
  return false;
}

template <bool kObserved, typename Store>
void V2Engine<kObserved, Store>::SetShape(uint32_t slot, ChunkRef first) {
  shape_ = {.committed_ns = store_.committed_ns(first), .slot = slot, .traits = store_.traits()};
  packet_.shape = &shape_;
}

/// The beginning of a packet was overwritten before its end came.
template <bool kObserved, typename Store>
void V2Engine<kObserved, Store>::TallyCutOff(uint32_t slot, uint32_t first_piece) {
  const uint64_t bytes = s_.rules.clearing_consumes_pieces ? packet_.size : first_piece;
  store_.tally().AddOverwritten(slot, {1, bytes}, /*open=*/true);
}

/// Bytes in the buffer of the packet that the commit's first fragment goes on with.
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

template <bool kObserved, typename Store>
void V2Engine<kObserved, Store>::TallyDiscarded(const ChunkCommit& commit, DiscardReason reason) {
  if (reason == DiscardReason::kTooLarge || reason == DiscardReason::kBadRecommit)
    return store_.SetProblem("a chunk breaks the rules");
  ShapeTally::Loss& loss = store_.tally().Discarded(commit.sequence);
  uint32_t known = 0;  // bytes whose packets have been accounted for
  if (reason == DiscardReason::kAlreadyConsumed) {
    const Sequence& sequence = s_.sequences[s_.slots.Find(commit.sequence)];
    if (commit.chunk != sequence.last_id)
      return store_.SetProblem("a chunk came after newer ones were consumed");
    known = sequence.last_payload_size;
  }
  if (loss.has_newest && commit.chunk == loss.newest)
    known = std::max(known, loss.newest_bytes);
  else if (loss.has_newest && Precedes(commit.chunk, loss.newest))
    return store_.SetProblem("chunks were discarded out of order");
  const bool goes_on =
      loss.open && loss.has_newest && commit.chunk == Successor(loss.newest) && known == 0;

  const ChunkShape& shape = *commit.shape;
  uint32_t count = commit.fragments;
  uint8_t flags = commit.flags;
  if (!commit.complete && count > 0) {
    --count;
    flags &= static_cast<uint8_t>(~kLastContinues);
  }
  const auto fragments = shape.fragments.first(std::min<size_t>(count, shape.fragments.size()));
  uint32_t begin = 0;
  for (const ShapeFragment& fragment : fragments) {
    const uint32_t size = fragment.end - begin - fragment.header;
    const bool is_first = begin == 0;
    const bool is_known = fragment.end <= known;
    begin = fragment.end;
    if (is_known) continue;
    const bool continues = is_first && (flags & kFirstContinues) != 0;
    const bool counts = continues ? !goes_on : size > 0;
    if (continues && !goes_on) loss.count.bytes += BytesAwaiting(commit);
    loss.count += {counts ? 1u : 0u, size};
  }
  loss.open = (flags & kLastContinues) != 0 && !fragments.empty();
  loss.has_newest = true;
  loss.newest = commit.chunk;
  loss.newest_bytes = std::max(known, begin);
}

}  // namespace ringscope::v2

#endif  // RINGSCOPE_CORE_V2_TALLY_INL_H_
