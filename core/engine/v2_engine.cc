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

/// Whether a chunk may come after what its sequence had consumed: it is newer, or it is the chunk
/// consumed last, which was incomplete and has grown.
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

/// What the chunk does to a packet that its predecessor leaves unfinished.
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
  // What is in front of the cursor comes last in the ring.
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

}  // namespace v2
}  // namespace ringscope

// The other parts of this file, included nowhere else: a template's members are in one translation
// unit.
#include "core/engine/v2_clear_part.h"
#include "core/engine/v2_reader_part.h"

namespace ringscope {
namespace {

// A state that is moved moves its parts: a clone copies each once.
static_assert(std::is_nothrow_move_constructible_v<v2::State>);

Result<v2::State> MakeState(const V2Rules& rules, const EngineConfig& config) {
  constexpr uint64_t kLimit = (uint64_t{1} << 32) - kPageBytes;
  if (config.size == 0 || config.size > kLimit)
    return Fail(ErrorCode::kLimit,
                fmt::format("a v2 buffer has 1 to {} bytes, not {}", kLimit, config.size));
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
