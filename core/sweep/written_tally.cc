#include "core/sweep/written_tally.h"

#include <algorithm>

namespace ringscope {

PacketCount WrittenTally::written() const {
  PacketCount sum;
  VisitSequences([&](SequenceKey, const PacketCount& written) { sum += written; });
  return sum;
}

/// nullptr: too old to be known.
auto WrittenTally::FindOrInsert(Sequence& sequence, ChunkId id) -> Seen* {
  std::vector<Seen>& seen = sequence.seen;
  auto at = seen.end();
  while (at != seen.begin() && !Precedes(std::prev(at)->id, id)) --at;
  if (at != seen.end() && at->id == id) return &*at;
  if (sequence.has_gone && !Precedes(sequence.gone.id, id)) return nullptr;
  Seen& added = *seen.insert(at, Seen{});
  added.id = id;
  return &added;
}

void WrittenTally::Add(const ChunkCommit& commit, const ChunkShape& shape) {
  Sequence& sequence = sequences_[commit.sequence];
  Seen* const seen = FindOrInsert(sequence, commit.chunk);
  if (seen == nullptr) {
    regular_ = false;
    return;
  }

  // As an engine takes it: a chunk that its writer still has lacks its last fragment.
  const auto [count, flags] = FinishedPartOf(commit.fragments, commit.flags, commit.complete);
  const bool broken = count > shape.fragments.size();
  const auto fragments = shape.fragments.first(std::min<size_t>(count, shape.fragments.size()));
  const uint32_t bytes = fragments.empty() ? 0 : fragments.back().end;
  if (seen->complete || (seen->has_fragments && bytes < seen->bytes)) return;  // nothing new

  uint32_t begin = 0;
  for (size_t i = 0; i < fragments.size(); ++i) {
    const ShapeFragment& fragment = fragments[i];
    const uint32_t size = fragment.end - begin - fragment.header;
    begin = fragment.end;
    if (fragment.end <= seen->bytes && seen->has_fragments) continue;
    const bool continues = i == 0 && (flags & kFirstContinues) != 0;
    const bool continued = i + 1 == fragments.size() && !broken && (flags & kLastContinues) != 0;
    // A fragment of a packet that began before counts there.
    const bool counts = !continues && (size > 0 || continued);
    sequence.written += {counts ? 1u : 0u, size};
  }
  if (broken) {
    // An aborted packet, or bytes that are none: like a last fragment.
    const bool aborted = shape.end == FragmentStatus::kWriterDrop;
    const uint32_t size = aborted ? 0 : shape.payload_size - bytes;
    const bool continues = fragments.empty() && (flags & kFirstContinues) != 0;
    const bool counts = !continues && (aborted || size > 0 || (flags & kLastContinues) != 0);
    sequence.written += {counts ? 1u : 0u, size};
  }

  seen->bytes = bytes;
  seen->has_fragments = !fragments.empty() || broken;
  seen->complete = commit.complete;
  seen->continues = seen->has_fragments && (flags & kFirstContinues) != 0;
  seen->continued = seen->has_fragments && (flags & kLastContinues) != 0;
  seen->unfinished_bytes = 0;
  if (count < commit.fragments && !broken && shape.fragments.size() > count) {
    const ShapeFragment& last = shape.fragments[count];
    seen->unfinished_bytes = last.end - bytes - last.header;
  }
  while (sequence.seen.size() > kWindow) Leave(sequence);
}

/// The oldest chunk that is known in detail leaves.
void WrittenTally::Leave(Sequence& sequence) {
  Seen seen = sequence.seen.front();
  sequence.seen.erase(sequence.seen.begin());
  const bool follows =
      sequence.has_gone && sequence.gone.continued && Successor(sequence.gone.id) == seen.id;
  if (!seen.complete && seen.unfinished_bytes > 0) sequence.written += {1, seen.unfinished_bytes};
  // The rest of a packet whose beginning was not committed.
  if (seen.continues && !follows) ++sequence.written.packets;
  // A chunk without fragments is passed over.
  if (!seen.has_fragments) seen.continued = follows;
  sequence.gone = seen;
  sequence.has_gone = true;
}

void WrittenTally::Finish() {
  for (size_t i = 0; i < sequences_.size(); ++i)
    while (!sequences_.At(i).value.seen.empty()) Leave(sequences_.At(i).value);
}

}  // namespace ringscope
