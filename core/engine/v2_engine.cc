#include "core/engine/v2_engine.h"

#include <fmt/format.h>

#include <type_traits>

#include "core/perfetto/chunk.h"

namespace ringscope {
namespace v2 {

template <bool kObserved>
auto V2Engine<kObserved>::Tokenize(const ChunkCommit& commit) const -> Incoming {
  const FinishedPart part =
      FinishedPartOf(commit.fragments, commit.flags & kAbiFlags, commit.complete);
  Incoming in{.commit = commit, .flags = part.flags};
  if (!commit.complete) in.flags |= kIncompleteChunk;
  ReadFragments(in, part.fragments);
  in.all_whole &= (in.flags & (kFirstContinues | kLastContinues)) == 0;
  in.size = commit.complete ? in.fragment_bytes : static_cast<uint32_t>(commit.payload.size());
  return in;
}

/// Sets what the first `count` fragments are like; all_whole: at least one is not empty. (Flat: a
/// call for each fragment would make an observed commit a sixth longer.)
template <bool kObserved>
[[gnu::flatten]] void V2Engine<kObserved>::ReadFragments(Incoming& in, uint32_t count) const {
  FragmentStatus end = FragmentStatus::kFragment;
  uint32_t fragments = 0, bytes = 0;
  bool any = false;
  end = VisitFragments(in.commit.payload, count, [&](const Fragment& fragment) {
    bytes = fragment.end;
    any |= fragment.size() > 0;
    ++fragments;
  });
  in.fragments = fragments;
  in.fragment_bytes = bytes;
  in.all_whole = any;
  in.broken = end != FragmentStatus::kFragment;
  in.writer_drop = end == FragmentStatus::kWriterDrop;
}

template <bool kObserved>
uint32_t V2Engine<kObserved>::FindOrCreateSequence(const ChunkCommit& commit, bool& is_new) {
  uint32_t slot = s_.slots.Find(commit.sequence);
  if (slot == KeyIndex::kNone) {
    slot = static_cast<uint32_t>(s_.sequences.size());
    s_.sequences.emplace_back().key = commit.sequence;
    histograms_.emplace_back();
    s_.slots.Insert(commit.sequence, slot);
  }
  Sequence& sequence = s_.sequences[slot];
  is_new = !sequence.exists;
  if (is_new) {
    sequence.exists = true;
    sequence.identity = commit.identity;
  }
  return slot;
}

/// Position in the sequence's list of the chunk with this id, searched from the newest backwards
/// as long as chunks are younger.
template <bool kObserved>
uint32_t V2Engine<kObserved>::FindChunk(const Sequence& sequence, ChunkId id) const {
  const uint32_t at = InsertionPoint(sequence, id);
  return at > 0 && s_.chunks[sequence.chunks[at - 1]].id == id ? at - 1 : kNotFound;
}

/// Like the above, but searches the whole list. The result differs only where ids are so far apart
/// that "younger" means nothing.
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

template <bool kObserved>
void V2Engine<kObserved>::Discard(const ChunkCommit& commit, DiscardReason reason) {
  if constexpr (kObserved) observer_->OnDiscarded(commit, reason);
  if (reason == DiscardReason::kTooLarge || reason == DiscardReason::kBadRecommit)
    ++s_.stats.abi_violations;
  else
    ++s_.stats.chunks_discarded;
}

template <bool kObserved>
void V2Engine<kObserved>::Commit(const ChunkCommit& commit) {
  if (s_.sealed) return Discard(commit, DiscardReason::kSealed);
  if (commit.payload.size() > kMaxChunkData) return Discard(commit, DiscardReason::kTooLarge);

  Incoming in = Tokenize(commit);
  if (in.broken && !(in.writer_drop && s_.rules.allows_writer_drop)) ++s_.stats.abi_violations;
  if (OuterSize(in.size) > s_.size) return Discard(commit, DiscardReason::kTooLarge);

  bool is_new = false;
  const uint32_t slot = FindOrCreateSequence(commit, is_new);
  Sequence& sequence = s_.sequences[slot];
  histograms_[slot].Add(in.fragment_bytes);
  if (in.writer_drop) {
    ++s_.stats.trace_writer_packet_loss;
    AddLoss(slot, kLossWriterAbort, commit.chunk);
  }
  if (sequence.has_last && !Readmits(sequence, in))
    return Discard(commit, DiscardReason::kAlreadyConsumed);

  const auto recommits = [&] {
    const uint32_t at = FindChunk(sequence, commit.chunk);
    return at != kNotFound && RecommitInPlace(sequence.chunks[at], at == 0, in) == Recommit::kDone;
  };
  if (s_.rules.recommit_before_evict && recommits()) return;
  if (!MakeSpace(in)) return;
  if (!s_.rules.recommit_before_evict && recommits()) return;
  WriteChunk(slot, in, is_new);
}

/// Returns true if a chunk may follow what its sequence had consumed: it is newer, or it is the
/// chunk consumed last, which was incomplete and has grown.
template <bool kObserved>
bool V2Engine<kObserved>::Readmits(const Sequence& sequence, Incoming& in) {
  const ChunkId id = in.commit.chunk;
  if (id != sequence.last_id) return !Precedes(id, sequence.last_id);
  if (!s_.rules.readmits_grown_chunk || !sequence.last_incomplete ||
      sequence.last_payload_size >= in.fragment_bytes)
    return false;
  in.consumed = sequence.last_payload_size;
  return true;
}

template <bool kObserved>
auto V2Engine<kObserved>::RecommitInPlace(ChunkRef ref, bool is_first, Incoming& in) -> Recommit {
  StoredChunk& chunk = s_.chunks[ref];
  s_.stalled.Invalidate(chunk.sequence);
  if (in.fragment_bytes < chunk.payload_size || in.fragment_bytes > chunk.size ||
      (chunk.flags & kAbiFlags & ~in.flags) != 0) {
    Discard(in.commit, DiscardReason::kBadRecommit);
    return Recommit::kDone;
  }
  const bool grows = in.fragment_bytes > chunk.payload_size;
  if (s_.rules.relocates_completed_chunk && chunk.is_incomplete() && chunk.payload_avail == 0 &&
      in.commit.complete && grows && is_first && !s_.discards) {
    ++s_.stats.chunks_relocated;
    in.consumed = chunk.payload_size;
    if constexpr (kObserved) observer_->OnRelocated(Observed(chunk));
    Erase(chunk.sequence);
    return Recommit::kRelocate;
  }
  if (in.commit.complete || !s_.rules.scrape_keeps_incomplete)
    chunk.flags &= static_cast<uint8_t>(~kIncompleteChunk);
  if (grows) {
    chunk.payload_avail = static_cast<uint16_t>(in.fragment_bytes - chunk.unread_offset());
    chunk.payload_size = static_cast<uint16_t>(in.fragment_bytes);
    store_.Write(chunk, in.commit, in.fragment_bytes);
    chunk.flags |= in.flags;
    chunk.all_whole = in.all_whole;
    ++s_.stats.chunks_rewritten;
  }
  if constexpr (kObserved) observer_->OnRewritten(Observed(chunk));
  return Recommit::kDone;
}

/// Returns the chunk's effect on a packet that its predecessor leaves unfinished.
template <bool kObserved>
Continuation V2Engine<kObserved>::ContinuationOf(const Incoming& in) const {
  if (in.consumed > 0 || in.broken) return Continuation::kOther;
  if ((in.flags & kNeedsPatching) != 0) return Continuation::kNeedsPatch;
  constexpr uint8_t kContinues = kFirstContinues | kLastContinues;
  const bool continues = in.fragments == 1 && (in.flags & kContinues) == kContinues;
  return continues ? Continuation::kContinues : Continuation::kOther;
}

template <bool kObserved>
void V2Engine<kObserved>::Wrap() {
  // Padding that is left between the cursor and the end comes last in buffer order from now on.
  while (!s_.chunks.empty() && s_.wr < s_.used && s_.chunks[s_.chunks.begin()].offset() >= s_.wr) {
    const StoredChunk padding = s_.chunks[s_.chunks.begin()];
    s_.chunks.PopFront();
    s_.chunks.PushBack(padding);
    if (padding.end() >= s_.used) break;
  }
  s_.wr = 0;
}

/// Wraps if the chunk does not fit to the buffer's end, and clears the bytes it will take.
/// @return false if the buffer is full and discards
template <bool kObserved>
bool V2Engine<kObserved>::MakeSpace(const Incoming& in) {
  const uint32_t outer = OuterSize(in.size);
  if (outer > s_.size - s_.wr) {
    if (s_.discards) {
      s_.sealed = true;
      Discard(in.commit, DiscardReason::kFull);
      return false;
    }
    if (s_.wr < s_.size) Clear(s_.size, in.commit);
    Wrap();
    ++s_.stats.write_wrap_count;
    if constexpr (kObserved) observer_->OnWrap();
  }
  Clear(s_.wr + outer, in.commit);
  return true;
}

template <bool kObserved>
void V2Engine<kObserved>::WriteChunk(uint32_t slot, const Incoming& in, bool sequence_is_new) {
  const uint32_t outer = OuterSize(in.size);
  DropClearedChunks(s_.wr + outer);

  StoredChunk chunk;
  chunk.offset_16 = static_cast<uint32_t>(s_.wr / 16);
  chunk.id = in.commit.chunk;
  chunk.sequence = slot;
  chunk.size = static_cast<uint16_t>(in.size);
  chunk.payload_size = static_cast<uint16_t>(in.fragment_bytes);
  chunk.payload_avail = static_cast<uint16_t>(in.fragment_bytes - in.consumed);
  chunk.flags = in.flags;
  chunk.all_whole = in.all_whole;
  const ChunkRef ref = s_.chunks.PushBack(chunk);
  store_.Write(chunk, in.commit, in.fragment_bytes);

  Sequence& sequence = s_.sequences[slot];
  const uint32_t at = InsertionPoint(sequence, chunk.id);
  const bool is_last = at == sequence.chunks.size();
  if (!is_last) ++s_.stats.chunks_committed_out_of_order;
  if (sequence.listed_empty) RemoveFromEmpty(slot);
  // The counter is a property of the released buffers; it does not go below nothing.
  if (sequence.chunks.empty() && !sequence_is_new && s_.empty_counter > 0) --s_.empty_counter;
  const bool consecutive =
      at > 0 && is_last && s_.chunks[sequence.chunks.back()].id == ChunkId{Raw(chunk.id) - 1};
  if (s_.stalled.Skips(slot)) {
    if (is_last)
      s_.stalled.Append(slot, chunk.id, consecutive ? ContinuationOf(in) : Continuation::kOther);
    else
      s_.stalled.Invalidate(slot);
  }
  sequence.chunks.Insert(at, ref);
  if (!consecutive) {
    const ChunkId first = s_.chunks[sequence.chunks.front()].id;
    // A run of consecutive ids on top cannot be longer than a buffer has chunks (2^28).
    if (Distance(first, s_.chunks[sequence.chunks.back()].id) >= kHalfIds / 2)
      sequence.wide_ids = true;
  }

  s_.wr += outer;
  if (s_.wr > s_.used) s_.used = s_.wr;
  if (!s_.rules.wraps_at_next_commit && s_.wr == s_.size) Wrap();
  ++s_.stats.chunks_written;
  s_.stats.bytes_written += outer;
  if constexpr (kObserved) observer_->OnCommitted(Observed(chunk));
  ForgetEmptySequences();
}

template <bool kObserved>
bool V2Engine<kObserved>::ApplyPatches(const ChunkPatches& patches) {
  const uint32_t slot = s_.slots.Find(patches.sequence);
  uint32_t at = kNotFound;
  if (slot != KeyIndex::kNone) at = FindChunkAnywhere(s_.sequences[slot], patches.chunk);
  if (at == kNotFound) {
    ++s_.stats.patches_failed;
    if constexpr (kObserved) observer_->OnPatchMissed(nullptr, patches, PatchMiss::kNoSuchChunk);
    return false;
  }
  const ChunkRef ref = s_.sequences[slot].chunks[at];
  StoredChunk& chunk = s_.chunks[ref];
  s_.stalled.Invalidate(slot);
  for (const Patch& patch : patches.patches) {
    if (chunk.payload_size < kPatchSize || patch.offset > chunk.payload_size - kPatchSize) {
      ++s_.stats.patches_failed;
      if constexpr (kObserved) {
        const ObservedChunk observed = Observed(chunk);
        observer_->OnPatchMissed(&observed, patches, PatchMiss::kOutOfBounds);
      }
      return false;
    }
    store_.Apply(chunk, patch);
    chunk.all_whole = false;  // a patch may overwrite a fragment's size
  }
  s_.stats.patches_succeeded += patches.patches.size();
  if (!patches.more) chunk.flags &= static_cast<uint8_t>(~kNeedsPatching);
  if constexpr (kObserved) observer_->OnPatched(Observed(chunk), patches);
  return true;
}

template <bool kObserved>
Result<std::unique_ptr<Engine>> V2Engine<kObserved>::Clone() const {
  // Nothing is read of what was never written.
  ZeroedStorage storage = AllocateCopy(store_.bytes(), s_.used, s_.size);
  if (storage == nullptr)
    return Fail(ErrorCode::kLimit, fmt::format("no memory for a clone of {} bytes", s_.size));
  State state = s_;
  state.stats = s_.stats.WithoutReads();
  return std::make_unique<V2Engine<false>>(std::move(state), PayloadStore(std::move(storage)),
                                           nullptr);
}

template <bool kObserved>
Result<std::unique_ptr<Engine>> V2Engine<kObserved>::ObserveBy(EngineObserver* observer) {
  if constexpr (!kObserved) {
    return std::make_unique<V2Engine<true>>(std::move(s_), std::move(store_), observer,
                                            std::move(histograms_));
  } else {
    return Engine::ObserveBy(observer);
  }
}

template <bool kObserved>
void V2Engine<kObserved>::VisitWriterStats(
    const std::function<void(const WriterStats&)>& visit) const {
  for (size_t slot = 0; slot < histograms_.size(); ++slot)
    visit({s_.sequences[slot].key, &histograms_[slot]});
}

template <bool kObserved>
Result<uint64_t> V2Engine<kObserved>::VisitChunks(const ChunkVisitor& visit) const {
  // Chunks in front of the cursor come last in the ring.
  for (const bool after_cursor : {false, true}) {
    for (ChunkRef ref = s_.chunks.begin(); ref != s_.chunks.end(); ++ref) {
      const StoredChunk& chunk = s_.chunks[ref];
      if ((chunk.offset() >= s_.wr) != after_cursor) continue;
      visit(chunk.is_padding()
                ? ObservedChunk{.offset = chunk.offset(), .outer_size = chunk.outer_size()}
                : Observed(chunk));
    }
  }
  return s_.wr;
}

template <bool kObserved>
inline ObservedChunk V2Engine<kObserved>::Observed(const StoredChunk& chunk) const {
  return {.sequence = s_.sequences[chunk.sequence].key,
          .chunk = chunk.id,
          .offset = chunk.offset(),
          .outer_size = chunk.outer_size(),
          .payload_size = chunk.payload_size,
          .payload_avail = chunk.payload_avail,
          .flags = static_cast<uint8_t>(chunk.flags & kAbiFlags),
          .incomplete = chunk.is_incomplete(),
          .payload = store_.Payload(chunk)};
}

// Clearing space, and what becomes of emptied sequences.

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

// Reading in sequence order, shared by read passes and clearing, and reading in buffer order.

template <bool kObserved>
void V2Engine<kObserved>::AddLoss(uint32_t slot, uint32_t bit, ChunkId at) {
  Sequence& sequence = s_.sequences[slot];
  sequence.loss_bits = static_cast<uint16_t>(sequence.loss_bits | bit | kLossPresent);
  if constexpr (kObserved) observer_->OnLossBit(sequence.key, at, bit);
}

template <bool kObserved>
Reader V2Engine<kObserved>::MakeReader(ChunkRef target) {
  ++looks_;
  const uint32_t slot = s_.chunks[target].sequence;
  const Sequence& sequence = s_.sequences[slot];
  const StoredChunk& first = s_.chunks[sequence.chunks.front()];
  if (sequence.has_last && first.id != Successor(sequence.last_id)) {
    const bool readmitted =
        first.id == sequence.last_id && sequence.last_incomplete && s_.rules.readmission_is_no_gap;
    // Once for all readers of the gap, until a packet carries it.
    const bool is_pending = (sequence.loss_bits & kLossReadGap) != 0;
    if (!readmitted && !is_pending) AddLoss(slot, kLossReadGap, first.id);
  }
  return {.slot = slot, .target = target, .position = first.unread_offset(), .met_gap = false};
}

template <bool kObserved>
template <Mode kMode>
void V2Engine<kObserved>::Consume(StoredChunk& chunk, uint32_t bytes) {
  chunk.payload_avail = static_cast<uint16_t>(chunk.payload_avail - bytes);
  if (chunk.payload_avail != 0) return;
  if constexpr (kMode == Mode::kRead) {
    ++s_.stats.chunks_read;
    s_.stats.bytes_read += chunk.outer_size();
  } else if (s_.rules.counts_lost_fragments) {
    ++s_.stats.chunks_overwritten;
    s_.stats.bytes_overwritten += chunk.outer_size();
  }
}

template <bool kObserved>
void V2Engine<kObserved>::ReturnPacket(const Sequence& sequence, ChunkId first,
                                       uint32_t first_offset, ChunkId last) {
  packet_.sequence = sequence.key;
  packet_.identity = sequence.identity;
  packet_.place = {first, first_offset, last};
}

/// Continues to read the sequence. True: packet_ is the next one (in erase mode: it is lost).
template <bool kObserved>
template <Mode kMode>
bool V2Engine<kObserved>::NextOf(Reader& reader) {
  Sequence& sequence = s_.sequences[reader.slot];
  if constexpr (kMode == Mode::kRead) {
    if (sequence.skipped_in_pass == s_.pass || s_.stalled.Skips(reader.slot)) return false;
  }
  while (true) {
    const ChunkRef ref = sequence.chunks.front();
    StoredChunk& chunk = s_.chunks[ref];
    Fragment fragment;
    const FragmentStatus status = store_.Read(chunk, reader.position, fragment);
    if (status != FragmentStatus::kFragment) {
      if (status == FragmentStatus::kCorrupted) AddLoss(reader.slot, kLossChunkCorrupted, chunk.id);
      if (kMode == Mode::kRead && chunk.is_incomplete()) {
        LeaveAt({chunk.id, StallReason::kIncomplete}, reader);
        return false;
      }
      const ChunkId erased = chunk.id;
      Erase(reader.slot);
      reader.moved = true;
      if (ref == reader.target || sequence.chunks.empty()) return false;
      const StoredChunk& next = s_.chunks[sequence.chunks.front()];
      reader.met_gap |= next.id != Successor(erased);
      reader.position = next.unread_offset();
      continue;
    }

    reader.position = fragment.end;
    switch (KindOf(fragment, chunk.payload_size, chunk.flags)) {
      case FragmentKind::kWhole:
        Consume<kMode>(chunk, fragment.size_with_header());
        if (fragment.size() == 0) continue;
        packet_.slices = {&whole_slice_, 1};
        SetWhole(chunk, fragment);
        ReturnPacket(sequence, chunk.id, fragment.offset, chunk.id);
        if constexpr (kMode == Mode::kRead) {
          run_ref_ = ref;
          run_end_ = chunk.payload_size;
        }
        return true;
      case FragmentKind::kContinue:
      case FragmentKind::kEnd:
        AddLoss(reader.slot, kLossOrphanContinuation, chunk.id);
        if constexpr (kObserved && kMode == Mode::kRead)
          observer_->OnPacketAbandoned(sequence.key, {chunk.id, fragment.offset, chunk.id},
                                       kLossOrphanContinuation);
        Consume<kMode>(chunk, fragment.size_with_header());
        continue;
      case FragmentKind::kBegin:
        break;
    }

    uint32_t loss_bit = 0;
    Stall stall;
    const Chain outcome = Reassemble<kMode>(reader, fragment, loss_bit, stall);
    switch (outcome) {
      case Chain::kWhole:
        return true;
      case Chain::kLost:
        AddLoss(reader.slot, loss_bit, chunk.id);
        break;
      case Chain::kUnfinished:
        if constexpr (kMode == Mode::kRead) {
          LeaveAt(stall, reader);
          return false;
        }
        AddLoss(reader.slot, kLossOverwrite, chunk.id);
        break;
    }
    if constexpr (kObserved && kMode == Mode::kRead)
      observer_->OnPacketAbandoned(sequence.key,
                                   {chunk.id, fragment.offset, packet_.place.last_chunk}, loss_bit);
  }
}

/// Follows a packet from its first fragment over the sequence's chunks; consumes what the outcome
/// asks for and, if all of it is there, makes packet_.
/// @param stall set if the outcome is kUnfinished
template <bool kObserved>
template <Mode kMode>
auto V2Engine<kObserved>::Reassemble(Reader& reader, const Fragment& begin, uint32_t& loss_bit,
                                     Stall& stall) -> Chain {
  const Sequence& sequence = s_.sequences[reader.slot];
  const ChunkList& list = sequence.chunks;
  const StoredChunk& first = s_.chunks[list.front()];
  chain_.clear();
  slices_.clear();
  slices_.push_back(store_.Slice(first, begin));
  chain_.push_back(begin.size_with_header());
  packet_.size = begin.size();
  packet_.place.last_chunk = first.id;

  Chain outcome = Chain::kUnfinished;
  stall = {first.id, StallReason::kNeedsPatch};
  ChunkId previous = first.id;
  constexpr uint32_t kFetchedAhead = 12;  // chunks
  bool done = (first.flags & kNeedsPatching) != 0;
  for (uint32_t i = 1; !done; ++i) {
    if (i == list.size()) {
      stall.reason = StallReason::kMissingChunk;
      break;
    }
    const StoredChunk& chunk = s_.chunks[list[i]];
    if (i + kFetchedAhead < list.size()) store_.PrefetchStart(s_.chunks[list[i + kFetchedAhead]]);
    if ((chunk.flags & kNeedsPatching) != 0) {
      stall.chunk = chunk.id;
      break;
    }
    if (reader.met_gap || chunk.id != Successor(previous)) {
      outcome = Chain::kLost;
      loss_bit = kLossReassemblyGap;
      break;
    }
    previous = stall.chunk = chunk.id;
    Fragment fragment;
    const FragmentStatus status = store_.Read(chunk, chunk.unread_offset(), fragment);
    if (status == FragmentStatus::kCorrupted) {
      outcome = Chain::kLost;
      loss_bit = kLossChunkCorrupted;
      break;
    }
    if (status != FragmentStatus::kFragment) {
      chain_.push_back(0);
      continue;
    }
    switch (KindOf(fragment, chunk.payload_size, chunk.flags)) {
      case FragmentKind::kEnd:
        outcome = Chain::kWhole;
        done = true;
        [[fallthrough]];
      case FragmentKind::kContinue:
        slices_.push_back(store_.Slice(chunk, fragment));
        chain_.push_back(fragment.size_with_header());
        packet_.size += fragment.size();
        packet_.place.last_chunk = chunk.id;
        break;
      case FragmentKind::kBegin:
      case FragmentKind::kWhole:
        outcome = Chain::kLost;
        loss_bit = kLossReassemblyBrokenChain;
        done = true;
        break;
    }
  }

  if (outcome == Chain::kWhole) {
    ++s_.stats.readaheads_succeeded;
    packet_.slices = slices_;
    ReturnPacket(sequence, first.id, begin.offset, packet_.place.last_chunk);
  } else {
    ++s_.stats.readaheads_failed;
  }
  const bool consumes = outcome != Chain::kUnfinished ||
                        (kMode == Mode::kErase && s_.rules.clearing_consumes_fragments);
  if (consumes) {
    for (uint32_t i = 0; i < chain_.size(); ++i)
      if (chain_[i] > 0) Consume<kMode>(s_.chunks[list[i]], chain_[i]);
  }
  return outcome;
}

template <bool kObserved>
void V2Engine<kObserved>::BeginRead() {
  if (++s_.pass == 0) s_.pass = 1;
  reading_ = true;
  begun_ = false;
  has_reader_ = false;
  run_end_ = 0;
}

template <bool kObserved>
void V2Engine<kObserved>::ReportStall(uint32_t slot, Stall stall) {
  if constexpr (kObserved) observer_->OnStalled(s_.sequences[slot].key, stall.chunk, stall.reason);
}

/// The pass leaves the sequence, which waits for something.
template <bool kObserved>
void V2Engine<kObserved>::LeaveAt(Stall stall, const Reader& reader) {
  s_.sequences[reader.slot].skipped_in_pass = s_.pass;
  s_.stalled.Note(reader.slot, stall, /*repeats=*/!reader.moved);
  ReportStall(reader.slot, stall);
}

/// Begins a pass after the stalled prefix, with what the pass would count and report there.
template <bool kObserved>
void V2Engine<kObserved>::BeginAfterStalled() {
  read_ref_ = s_.stalled.BeginPass(s_.chunks);
  s_.stats.readaheads_failed += s_.stalled.failed_readaheads();
  if constexpr (kObserved)
    for (const StalledPrefix::Entry& entry : s_.stalled.entries())
      ReportStall(entry.slot, s_.stalled.StallOf(entry.slot));
}

/// The pass is done with the chunk after the stalled prefix.
template <bool kObserved>
void V2Engine<kObserved>::AddToStalled(ChunkRef ref) {
  const StoredChunk& chunk = s_.chunks[ref];
  if (chunk.is_padding())
    s_.stalled.AddPadding();
  else
    s_.stalled.Add(chunk.sequence, s_.sequences[chunk.sequence].skipped_in_pass == s_.pass);
}

template <bool kObserved>
const Packet* V2Engine<kObserved>::NextPacket() {
  if (reader_.position < run_end_ && NextOfRun()) return &packet_;
  run_end_ = 0;
  return Advance();
}

/// The packet after a whole one, if it is a whole one of the same chunk, too, as most are: what is
/// the same for both stays in packet_. False: it takes a closer look.
template <bool kObserved>
bool V2Engine<kObserved>::NextOfRun() {
  StoredChunk& chunk = s_.chunks[run_ref_];
  Fragment fragment;
  if (store_.Read(chunk, reader_.position, fragment) != FragmentStatus::kFragment ||
      fragment.size() == 0 ||
      KindOf(fragment, chunk.payload_size, chunk.flags) != FragmentKind::kWhole)
    return false;
  reader_.position = fragment.end;
  Consume<Mode::kRead>(chunk, fragment.size_with_header());
  SetWhole(chunk, fragment);
  packet_.dropped = 0;
  if constexpr (kObserved) observer_->OnPacketReturned(packet_);
  return true;
}

/// The packet is this fragment of the chunk.
template <bool kObserved>
void V2Engine<kObserved>::SetWhole(const StoredChunk& chunk, const Fragment& fragment) {
  whole_slice_ = store_.Slice(chunk, fragment);
  packet_.size = fragment.size();
  packet_.place.first_offset = fragment.offset;
}

template <bool kObserved>
const Packet* V2Engine<kObserved>::Advance() {
  if (!reading_) return nullptr;
  if (!begun_) {
    begun_ = true;
    BeginAfterStalled();
  }
  while (true) {
    if (!has_reader_) {
      if (read_ref_ == s_.chunks.end()) {
        reading_ = false;
        return nullptr;
      }
      if (s_.chunks[read_ref_].is_padding()) {
        if (s_.stalled.EndsAt(read_ref_)) s_.stalled.AddPadding();
        ++read_ref_;
        continue;
      }
      if (read_ref_ + 1 != s_.chunks.end()) store_.Prefetch(s_.chunks[read_ref_ + 1]);
      reader_ = MakeReader(read_ref_);
      has_reader_ = true;
    }
    if (NextOf<Mode::kRead>(reader_)) {
      reader_.moved = true;
      Sequence& sequence = s_.sequences[reader_.slot];
      packet_.dropped = s_.rules.reports_loss_causes
                            ? sequence.loss_bits
                            : static_cast<uint32_t>(sequence.loss_bits != 0);
      sequence.loss_bits = 0;
      if constexpr (kObserved) observer_->OnPacketReturned(packet_);
      return &packet_;
    }
    has_reader_ = false;
    if (s_.stalled.EndsAt(read_ref_)) AddToStalled(read_ref_);
    ++read_ref_;
  }
}

}  // namespace v2

namespace {

// A state that is moved moves its parts: a clone copies each once.
static_assert(std::is_nothrow_move_constructible_v<v2::State>);

Result<v2::State> MakeState(const V2Rules& rules, const EngineConfig& config) {
  constexpr uint64_t kLimit = (uint64_t{1} << 32) - kPageBytes;
  if (config.size == 0 || config.size > kLimit)
    return Fail(ErrorCode::kLimit, "a v2 buffer has at least 1 byte, and at most 4 GiB less 4 KiB");
  v2::State state;
  state.rules = rules;
  state.size = PagesUp(config.size);
  state.discards = config.policy == FillPolicy::kDiscard;
  state.stats.buffer_size = state.size;
  return state;
}

}  // namespace

Result<std::unique_ptr<Engine>> CreateV2Engine(const V2Rules& rules, const EngineConfig& config,
                                               bool skips_stalled) {
  RS_ASSIGN_OR_RETURN(v2::State state, MakeState(rules, config));
  state.stalled = v2::StalledPrefix(skips_stalled);
  ZeroedStorage storage = AllocateZeroed(state.size);
  if (storage == nullptr)
    return Fail(ErrorCode::kLimit, fmt::format("no memory for a buffer of {} bytes", state.size));
  v2::PayloadStore store(std::move(storage));
  if (config.observer != nullptr)
    return std::make_unique<v2::V2Engine<true>>(std::move(state), std::move(store),
                                                config.observer);
  return std::make_unique<v2::V2Engine<false>>(std::move(state), std::move(store), nullptr);
}

}  // namespace ringscope
