#ifndef RINGSCOPE_CORE_ENGINE_V2_LOOKUP_PART_H_
#define RINGSCOPE_CORE_ENGINE_V2_LOOKUP_PART_H_

// Part of v2_engine.cc: the place of a chunk in its sequence's list.

#include "core/engine/v2_engine.h"

namespace ringscope::v2 {

/// Position in the sequence's list of the chunk with this id, searched from the newest backwards
/// as long as chunks are younger.
template <bool kObserved>
uint32_t V2Engine<kObserved>::FindChunk(const Sequence& sequence, ChunkId id) const {
  const uint32_t at = InsertionPoint(sequence, id);
  return at > 0 && s_.chunks[sequence.chunks[at - 1]].id == id ? at - 1 : kNotFound;
}

/// The same, searched through the whole list. That differs only where ids are so far apart that
/// "younger" means nothing.
template <bool kObserved>
uint32_t V2Engine<kObserved>::FindChunkAnywhere(const Sequence& sequence, ChunkId id) const {
  const uint32_t at = FindChunk(sequence, id);
  if (at != kNotFound || !sequence.wide_ids) return at;
  for (uint32_t i = sequence.chunks.size(); i-- > 0;)
    if (s_.chunks[sequence.chunks[i]].id == id) return i;
  return kNotFound;
}

/// How many chunks of the list `id` follows: the search from the newest backwards ends at the first
/// chunk that `id` does not precede. Ids exactly 2^31 apart precede each other.
template <bool kObserved>
uint32_t V2Engine<kObserved>::InsertionPoint(const Sequence& sequence, ChunkId id) const {
  const ChunkList& list = sequence.chunks;
  const auto id_at = [&](uint32_t i) { return s_.chunks[list[i]].id; };
  const auto follows = [&](uint32_t i) { return !Precedes(id, id_at(i)); };
  uint32_t count = list.size();
  if (count == 0 || follows(count - 1)) return count;
  const uint32_t back = Distance(id, id_at(count - 1));
  if (!sequence.wide_ids && back < kHalfIds) {
    // Ids without holes: the place is known by arithmetic.
    if (back < count && id_at(count - 1 - back) == id) return count - back;
    // No more than `back` chunks are younger; as many, if all of these are there.
    uint32_t low = back < count ? count - back : 0, high = count - 1;  // high does not follow
    if (!follows(low)) return low;
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (follows(middle))
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  while (count > 0 && !follows(count - 1)) --count;
  return count;
}

}  // namespace ringscope::v2

#endif  // RINGSCOPE_CORE_ENGINE_V2_LOOKUP_PART_H_
