#include "core/engine/v2_engine.h"

#include <fmt/format.h>

#include <type_traits>
#include <utility>

#include "core/engine/payload_store.h"
#include "core/perfetto/commit_request.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/fragment.h"

namespace ringscope {
namespace v2 {

// A state that is moved moves its parts: a clone copies each once.
static_assert(std::is_nothrow_move_constructible_v<State>);

/// TraceBufferV2. The unobserved instantiation has no trace of the observer in it.
template <bool kObserved>
class V2Engine final : public Engine {
 public:
  V2Engine(State state, PayloadStore store, EngineObserver* observer,
           StableVector<WriterHistogram> histograms = {})
      : s_(std::move(state)),
        store_(std::move(store)),
        observer_(observer),
        histograms_(std::move(histograms)) {}

  void Commit(const ChunkCommit& commit) override {
    if (s_.sealed) return Discard(commit, DiscardReason::kSealed);
    if (commit.payload.size() > kMaxChunkData) return Discard(commit, DiscardReason::kTooLarge);

    Incoming in = Tokenize(commit);
    if (in.broken && !(in.writer_drop && s_.rules.allows_writer_drop)) ++s_.stats.abi_violations;
    if (OuterSize(in.size) > s_.size) return Discard(commit, DiscardReason::kTooLarge);

    const uint32_t slot = FindOrCreateSequence(commit);
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
      return at != kNotFound && RecommitInPlace(sequence.chunks[at], at == 0, in);
    };
    if (s_.rules.recommit_before_evict && recommits()) return;
    if (!MakeSpace(in)) return;
    if (!s_.rules.recommit_before_evict && recommits()) return;
    WriteChunk(slot, in);
  }

  bool ApplyPatches(const ChunkPatches& patches) override {
    const uint32_t slot = s_.slots.Find(patches.sequence);
    const uint32_t at =
        slot == KeyIndex::kNone ? kNotFound : FindChunkAnywhere(s_.sequences[slot], patches.chunk);
    if (at == kNotFound) {
      ++s_.stats.patches_failed;
      if constexpr (kObserved) observer_->OnPatchMissed(nullptr, patches, PatchMiss::kNoSuchChunk);
      return false;
    }
    StoredChunk& chunk = s_.chunks[s_.sequences[slot].chunks[at]];
    s_.stalled.Invalidate(slot);
    chunk.all_whole = false;  // a patch may overwrite a fragment's size
    if (!store_.Apply(chunk.offset(), chunk.payload_size, patches.patches)) {
      ++s_.stats.patches_failed;
      if constexpr (kObserved) {
        const ObservedChunk observed = Observed(chunk);
        observer_->OnPatchMissed(&observed, patches, PatchMiss::kOutOfBounds);
      }
      return false;
    }
    s_.stats.patches_succeeded += patches.patches.size();
    if (!patches.more) chunk.flags &= static_cast<uint8_t>(~kNeedsPatching);
    if constexpr (kObserved) observer_->OnPatched(Observed(chunk), patches);
    return true;
  }

  void BeginRead() override {
    if (++s_.pass == 0) s_.pass = 1;
    reading_ = true;
    begun_ = false;
    has_reader_ = false;
    run_end_ = 0;
  }

  const Packet* NextPacket() override {
    if (reader_.position < run_end_ && NextOfRun()) return &packet_;
    run_end_ = 0;
    return Advance();
  }

  Result<std::unique_ptr<Engine>> Clone() const override {
    // Nothing is read of what was never written.
    RS_ASSIGN_OR_RETURN(PayloadStore store, store_.Clone(s_.used, s_.size));
    State state = s_;
    state.stats = s_.stats.WithoutReads();
    return std::make_unique<V2Engine<false>>(std::move(state), std::move(store), nullptr);
  }

  [[gnu::cold]] Result<std::unique_ptr<Engine>> ObserveBy(EngineObserver* observer) override {
    if constexpr (kObserved) return Engine::ObserveBy(observer);
    return std::make_unique<V2Engine<true>>(std::move(s_), std::move(store_), observer,
                                            std::move(histograms_));
  }

  const BufferStats& stats() const override { return s_.stats; }

  void VisitWriterStats(const std::function<void(const WriterStats&)>& visit) const override {
    for (size_t slot = 0; slot < histograms_.size(); ++slot)
      visit({s_.sequences[slot].key, &histograms_[slot]});
  }

  Result<uint64_t> VisitChunks(const ChunkVisitor& visit) const override {
    s_.chunks.VisitByOffset(s_.wr, [&](const StoredChunk& chunk) {
      visit(chunk.is_padding()
                ? ObservedChunk{.offset = chunk.offset(), .outer_size = chunk.outer_size()}
                : Observed(chunk));
    });
    return s_.wr;
  }

  std::string CheckInvariants() const override {
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
      empty += sequence.listed_empty;
      if (sequence.listed_empty && !sequence.chunks.empty()) return "an empty sequence has chunks";
      listed += sequence.chunks.size();
      for (uint32_t i = 0; i < sequence.chunks.size(); ++i) {
        const StoredChunk& chunk = s_.chunks[sequence.chunks[i]];
        if (chunk.sequence != slot) return "a sequence lists another's chunk";
        if (i > 0 && !sequence.wide_ids &&
            !Precedes(s_.chunks[sequence.chunks[i - 1]].id, chunk.id))
          return "a sequence's list is not sorted";
      }
    }
    if (listed != held) return "chunks held and chunks listed differ";
    if (empty != s_.empty_listed) return "the list of empty sequences is wrong";
    return "";
  }

  uint64_t looks() const { return looks_; }

 private:
  static constexpr uint32_t kNotFound = UINT32_MAX;

  // Commits.

  /// A commit after a look at its fragments.
  struct Incoming {
    const ChunkCommit& commit;
    uint8_t flags = 0;  // to be stored
    uint32_t fragments = 0;
    uint32_t fragment_bytes = 0;
    uint32_t size = 0;       // payload bytes to reserve
    uint32_t consumed = 0;   // bytes that were read before, for a chunk that is re-committed
    bool all_whole = false;  // whole packets only, at least one not empty
    bool writer_drop = false;
    bool broken = false;  // fewer fragments than counted

    /// Returns the chunk's effect on a packet that its predecessor leaves unfinished.
    Continuation continuation() const {
      if (consumed > 0 || broken) return Continuation::kOther;
      if ((flags & kNeedsPatching) != 0) return Continuation::kNeedsPatch;
      constexpr uint8_t kContinues = kFirstContinues | kLastContinues;
      const bool continues = fragments == 1 && (flags & kContinues) == kContinues;
      return continues ? Continuation::kContinues : Continuation::kOther;
    }
  };

  /// (Flat: a call for each fragment would make an observed commit a sixth longer.)
  [[gnu::flatten]] Incoming Tokenize(const ChunkCommit& commit) const {
    const FinishedPart part =
        FinishedPartOf(commit.fragments, commit.flags & kAbiFlags, commit.complete);
    uint32_t fragments = 0, bytes = 0;
    bool any = false;
    const FragmentStatus end =
        VisitFragments(commit.payload, part.fragments, [&](const Fragment& fragment) {
          bytes = fragment.end;
          any |= fragment.size() > 0;
          ++fragments;
        });
    return {
        .commit = commit,
        .flags = static_cast<uint8_t>(part.flags | (commit.complete ? 0 : kIncompleteChunk)),
        .fragments = fragments,
        .fragment_bytes = bytes,
        .size = commit.complete ? bytes : static_cast<uint32_t>(commit.payload.size()),
        .all_whole = any && (part.flags & (kFirstContinues | kLastContinues)) == 0,
        .writer_drop = end == FragmentStatus::kWriterDrop,
        .broken = end != FragmentStatus::kFragment,
    };
  }

  uint32_t FindOrCreateSequence(const ChunkCommit& commit) {
    uint32_t slot = s_.slots.Find(commit.sequence);
    if (slot == KeyIndex::kNone) {
      slot = static_cast<uint32_t>(s_.sequences.size());
      s_.sequences.emplace_back().key = commit.sequence;
      histograms_.emplace_back();
      s_.slots.Insert(commit.sequence, slot);
    }
    if (!s_.sequences[slot].exists) s_.sequences[slot].identity = commit.identity;
    return slot;
  }

  /// Position in the sequence's list of the chunk with this id, searched from the newest backwards
  /// as long as chunks are younger.
  uint32_t FindChunk(const Sequence& sequence, ChunkId id) const {
    const uint32_t at = InsertionPoint(sequence, id);
    return at > 0 && s_.chunks[sequence.chunks[at - 1]].id == id ? at - 1 : kNotFound;
  }
  /// Like the above, but searches the whole list. The result differs only where ids are so far
  /// apart that "younger" means nothing.
  uint32_t FindChunkAnywhere(const Sequence& sequence, ChunkId id) const {
    const uint32_t at = FindChunk(sequence, id);
    if (at != kNotFound || !sequence.wide_ids) return at;
    for (uint32_t i = sequence.chunks.size(); i-- > 0;)
      if (s_.chunks[sequence.chunks[i]].id == id) return i;
    return kNotFound;
  }

  /// How many chunks of the list `id` follows: the search from the newest backwards ends at the
  /// first chunk that `id` does not precede. Ids exactly 2^31 apart precede each other.
  uint32_t InsertionPoint(const Sequence& sequence, ChunkId id) const {
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
      const uint32_t low = back < count ? count - back : 0;
      if (!follows(low)) return low;
      return FirstNotBefore(low, count - 1, follows);
    }
    while (count > 0 && !follows(count - 1)) --count;
    return count;
  }

  void Discard(const ChunkCommit& commit, DiscardReason reason) {
    if constexpr (kObserved) observer_->OnDiscarded(commit, reason);
    const bool breaks_rules =
        reason == DiscardReason::kTooLarge || reason == DiscardReason::kBadRecommit;
    ++(breaks_rules ? s_.stats.abi_violations : s_.stats.chunks_discarded);
  }

  /// Returns true if a chunk may follow what its sequence had consumed: it is newer, or it is the
  /// chunk consumed last, which was incomplete and has grown.
  bool Readmits(const Sequence& sequence, Incoming& in) const {
    const ChunkId id = in.commit.chunk;
    if (id != sequence.last_id) return !Precedes(id, sequence.last_id);
    if (!s_.rules.readmits_grown_chunk || !sequence.last_incomplete ||
        sequence.last_payload_size >= in.fragment_bytes)
      return false;
    in.consumed = sequence.last_payload_size;
    return true;
  }

  /// @return false if the chunk was taken out instead, to be written at the cursor
  bool RecommitInPlace(ChunkRef ref, bool is_first, Incoming& in) {
    StoredChunk& chunk = s_.chunks[ref];
    s_.stalled.Invalidate(chunk.sequence);
    if (in.fragment_bytes < chunk.payload_size || in.fragment_bytes > chunk.size ||
        (chunk.flags & kAbiFlags & ~in.flags) != 0) {
      Discard(in.commit, DiscardReason::kBadRecommit);
      return true;
    }
    const bool grows = in.fragment_bytes > chunk.payload_size;
    if (s_.rules.relocates_completed_chunk && chunk.is_incomplete() && chunk.payload_avail == 0 &&
        in.commit.complete && grows && is_first && !s_.discards) {
      ++s_.stats.chunks_relocated;
      in.consumed = chunk.payload_size;
      if constexpr (kObserved) observer_->OnRelocated(Observed(chunk));
      Erase(chunk.sequence);
      return false;
    }
    if (in.commit.complete || !s_.rules.scrape_keeps_incomplete)
      chunk.flags &= static_cast<uint8_t>(~kIncompleteChunk);
    if (grows) {
      chunk.payload_avail = static_cast<uint16_t>(in.fragment_bytes - chunk.unread_offset());
      Fill(chunk, in);
      chunk.flags |= in.flags;
      ++s_.stats.chunks_rewritten;
    }
    if constexpr (kObserved) observer_->OnRewritten(Observed(chunk));
    return true;
  }

  /// The chunk gets the commit's fragments.
  void Fill(StoredChunk& chunk, const Incoming& in) {
    chunk.payload_size = static_cast<uint16_t>(in.fragment_bytes);
    chunk.all_whole = in.all_whole;
    store_.Write(chunk.offset(), in.commit.payload.first(in.fragment_bytes));
  }

  void Wrap() {
    // Padding that is left between the cursor and the end comes last in buffer order from now on.
    while (!s_.chunks.empty() && s_.wr < s_.used && s_.chunks.front().offset() >= s_.wr) {
      const StoredChunk padding = s_.chunks.front();
      s_.chunks.PopFront();
      s_.chunks.PushBack(padding);
      if (padding.end() >= s_.used) break;
    }
    s_.wr = 0;
  }

  /// Wraps if the chunk does not fit to the buffer's end, and clears the bytes it will take.
  /// @return false if the buffer is full and discards
  bool MakeSpace(const Incoming& in) {
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

  void WriteChunk(uint32_t slot, const Incoming& in) {
    const uint32_t outer = OuterSize(in.size);
    DropClearedChunks(s_.wr + outer);

    StoredChunk chunk{.offset_16 = static_cast<uint32_t>(s_.wr / 16),
                      .id = in.commit.chunk,
                      .sequence = slot,
                      .size = static_cast<uint16_t>(in.size),
                      .payload_avail = static_cast<uint16_t>(in.fragment_bytes - in.consumed),
                      .flags = in.flags};
    Fill(chunk, in);
    const ChunkRef ref = s_.chunks.PushBack(chunk);

    Sequence& sequence = s_.sequences[slot];
    const uint32_t at = InsertionPoint(sequence, chunk.id);
    const bool is_last = at == sequence.chunks.size();
    if (!is_last) ++s_.stats.chunks_committed_out_of_order;
    if (sequence.listed_empty) RemoveFromEmpty(slot);
    // The counter is a property of the released buffers; it does not go below nothing.
    const bool was_known = std::exchange(sequence.exists, true);
    if (sequence.chunks.empty() && was_known && s_.empty_counter > 0) --s_.empty_counter;
    const bool consecutive =
        at > 0 && is_last && s_.chunks[sequence.chunks.back()].id == ChunkId{Raw(chunk.id) - 1};
    if (s_.stalled.Skips(slot)) {
      if (is_last)
        s_.stalled.Append(slot, chunk.id, consecutive ? in.continuation() : Continuation::kOther);
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

  [[gnu::always_inline]] ObservedChunk Observed(const StoredChunk& chunk) const {
    return {.sequence = s_.sequences[chunk.sequence].key,
            .chunk = chunk.id,
            .offset = chunk.offset(),
            .outer_size = chunk.outer_size(),
            .payload_size = chunk.payload_size,
            .payload_avail = chunk.payload_avail,
            .flags = static_cast<uint8_t>(chunk.flags & kAbiFlags),
            .incomplete = chunk.is_incomplete(),
            .payload = {store_.At(chunk.offset()), chunk.payload_size}};
  }

  // Clearing space, and what becomes of emptied sequences.

  /// Clears [wr, end): all chunks that start in it become padding, after their packets were read in
  /// erase mode. They stay in the ring until something is written over them.
  void Clear(uint64_t end, const ChunkCommit& by) {
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
        Prefetch(s_.chunks[ref + 1], s_.chunks[ref + 1].payload_size);
    }
    if (cleared_to > end) {
      s_.stats.padding_bytes_written += cleared_to - end;
      if constexpr (kObserved) observer_->OnPadding(end, static_cast<uint32_t>(cleared_to - end));
    }
  }

  void ClearChunk(ChunkRef ref, const ChunkCommit& by) {
    StoredChunk& chunk = s_.chunks[ref];
    const ChunkId id = chunk.id;
    const uint32_t slot = chunk.sequence;
    s_.stalled.Invalidate(slot);
    if constexpr (kObserved) observer_->OnEvicting(Observed(chunk), by);
    if (!s_.rules.counts_lost_fragments) CountOverwritten(chunk);

    Reader reader = MakeReader(ref);
    const bool reports = ReportsOverwritten();
    // The usual case: nobody read of it, and all its packets are whole, so that what the reader
    // would find is known without touching its bytes.
    bool lost_packets = chunk.all_whole && chunk.payload_avail == chunk.payload_size &&
                        s_.sequences[slot].chunks.front() == ref && !reports;
    if (lost_packets) {
      Consume<Mode::kErase>(chunk, chunk.payload_size);
      Erase(slot);
    } else {
      while (NextOf<Mode::kErase>(reader)) {
        lost_packets = true;
        if constexpr (kObserved)
          if (reports) observer_->OnPacketOverwritten(packet_);
      }
    }
    if (lost_packets) AddLoss(slot, kLossOverwrite, id);
  }

  void CountOverwritten(const StoredChunk& chunk) {
    ++s_.stats.chunks_overwritten;
    s_.stats.bytes_overwritten += chunk.outer_size();
  }

  /// Returns true if each packet that is overwritten is reported.
  bool ReportsOverwritten() const {
    if constexpr (kObserved) return observer_->wants_overwritten_packets();
    return false;
  }

  /// Takes the padding that Clear left in [wr, end) out of the ring; what reaches beyond stays.
  void DropClearedChunks(uint64_t end) {
    if (s_.wr >= s_.used) return;
    uint64_t cleared_to = end;
    while (!s_.chunks.empty()) {
      const StoredChunk& chunk = s_.chunks.front();
      if (chunk.offset() < s_.wr || chunk.offset() >= end) break;
      cleared_to = chunk.end();
      s_.chunks.PopFront();
    }
    if (cleared_to > end)
      s_.chunks.PushFront({.offset_16 = static_cast<uint32_t>(end / 16),
                           .size = static_cast<uint16_t>(cleared_to - end - OuterSize(0))});
  }

  /// Takes the first chunk of a sequence out: it is remembered as the last consumed one, and its
  /// place in the buffer becomes padding.
  void Erase(uint32_t slot) {
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

  // The list of empty sequences: kNone is before the oldest and after the newest.
  uint32_t& NewerEmpty(uint32_t slot) {
    return slot == Sequence::kNone ? s_.oldest_empty : s_.sequences[slot].newer_empty;
  }
  uint32_t& OlderEmpty(uint32_t slot) {
    return slot == Sequence::kNone ? s_.newest_empty : s_.sequences[slot].older_empty;
  }
  void AddToEmpty(uint32_t slot) {
    s_.sequences[slot].listed_empty = true;
    OlderEmpty(slot) = s_.newest_empty;
    NewerEmpty(slot) = Sequence::kNone;
    NewerEmpty(s_.newest_empty) = slot;
    s_.newest_empty = slot;
    ++s_.empty_listed;
  }
  void RemoveFromEmpty(uint32_t slot) {
    s_.sequences[slot].listed_empty = false;
    NewerEmpty(OlderEmpty(slot)) = NewerEmpty(slot);
    OlderEmpty(NewerEmpty(slot)) = OlderEmpty(slot);
    --s_.empty_listed;
  }

  /// When too many sequences are empty, forgets all but those that became empty last.
  void ForgetEmptySequences() {
    constexpr uint32_t kKept = 1024;
    constexpr uint32_t kThreshold = kKept + 128;
    if (s_.empty_counter <= kThreshold) [[likely]]
      return;
    while (s_.empty_listed > kKept) {
      const uint32_t slot = s_.oldest_empty;
      RemoveFromEmpty(slot);
      const SequenceKey key = s_.sequences[slot].key;
      s_.sequences[slot] = Sequence{.key = key};
    }
    s_.empty_counter = kKept;
  }

  // Reading in sequence order, shared by read passes and clearing.

  enum class Mode : uint8_t { kRead, kErase };
  enum class Chain : uint8_t { kWhole, kLost, kUnfinished };

  /// Takes the packets of one sequence in order, up to a target chunk. Its current chunk is always
  /// the first of the sequence's list.
  struct Reader {
    uint32_t slot = 0;
    ChunkRef target = 0;
    uint32_t position = 0;  // in the first chunk's payload
    bool met_gap = false;
    bool moved = false;  // returned a packet, or took a chunk out
  };

  void AddLoss(uint32_t slot, uint32_t bit, ChunkId at) {
    Sequence& sequence = s_.sequences[slot];
    sequence.loss_bits = static_cast<uint16_t>(sequence.loss_bits | bit | kLossPresent);
    if constexpr (kObserved) observer_->OnLossBit(sequence.key, at, bit);
  }

  Reader MakeReader(ChunkRef target) {
    ++looks_;
    const uint32_t slot = s_.chunks[target].sequence;
    const Sequence& sequence = s_.sequences[slot];
    const StoredChunk& first = s_.chunks[sequence.chunks.front()];
    if (sequence.has_last && first.id != Successor(sequence.last_id)) {
      const bool readmitted = first.id == sequence.last_id && sequence.last_incomplete &&
                              s_.rules.readmission_is_no_gap;
      // Once for all readers of the gap, until a packet carries it.
      const bool is_pending = (sequence.loss_bits & kLossReadGap) != 0;
      if (!readmitted && !is_pending) AddLoss(slot, kLossReadGap, first.id);
    }
    return {.slot = slot, .target = target, .position = first.unread_offset()};
  }

  /// GCC would inline it or not by how much else there is in the same unit.
  [[gnu::always_inline]] FragmentStatus Read(const StoredChunk& chunk, uint32_t offset,
                                             Fragment& fragment) const {
    return ReadFragment(store_.At(chunk.offset()), chunk.payload_size, offset, fragment);
  }
  [[gnu::always_inline]] void Prefetch(const StoredChunk& chunk, uint32_t bytes) const {
    PrefetchPayload(store_.At(chunk.offset()), bytes);
  }

  template <Mode kMode>
  void Consume(StoredChunk& chunk, uint32_t bytes) {
    chunk.payload_avail = static_cast<uint16_t>(chunk.payload_avail - bytes);
    if (chunk.payload_avail != 0) return;
    if constexpr (kMode == Mode::kRead) {
      ++s_.stats.chunks_read;
      s_.stats.bytes_read += chunk.outer_size();
    } else if (s_.rules.counts_lost_fragments) {
      CountOverwritten(chunk);
    }
  }

  /// Completes packet_, which begins with this fragment.
  void SetPlace(const Sequence& sequence, const StoredChunk& first, const Fragment& begin,
                ChunkId last) {
    packet_.sequence = sequence.key;
    packet_.identity = sequence.identity;
    packet_.place = {first.id, begin.offset, last};
  }

  /// Continues to read the sequence. True: packet_ is the next one (in erase mode: it is lost).
  template <Mode kMode>
  bool NextOf(Reader& reader) {
    Sequence& sequence = s_.sequences[reader.slot];
    if constexpr (kMode == Mode::kRead) {
      if (sequence.skipped_in_pass == s_.pass || s_.stalled.Skips(reader.slot)) return false;
    }
    while (true) {
      const ChunkRef ref = sequence.chunks.front();
      StoredChunk& chunk = s_.chunks[ref];
      Fragment fragment;
      const FragmentStatus status = Read(chunk, reader.position, fragment);
      if (status != FragmentStatus::kFragment) {
        if (status == FragmentStatus::kCorrupted)
          AddLoss(reader.slot, kLossChunkCorrupted, chunk.id);
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
      const FragmentKind kind = KindOf(fragment, chunk.payload_size, chunk.flags);
      if (kind == FragmentKind::kWhole) {
        Consume<kMode>(chunk, fragment.size_with_header());
        if (fragment.size() == 0) continue;
        packet_.slices = {&whole_slice_, 1};
        SetWhole(chunk, fragment);
        SetPlace(sequence, chunk, fragment, chunk.id);
        if constexpr (kMode == Mode::kRead) {
          run_ref_ = ref;
          run_end_ = chunk.payload_size;
        }
        return true;
      }
      [[maybe_unused]] ChunkId last = chunk.id;  // of an abandoned packet
      uint32_t loss_bit = kLossOrphanContinuation;
      if (kind == FragmentKind::kBegin) {
        Stall stall;
        const Chain outcome = Reassemble<kMode>(reader, fragment, loss_bit, stall);
        if (outcome == Chain::kWhole) return true;
        if (kMode == Mode::kRead && outcome == Chain::kUnfinished) {
          LeaveAt(stall, reader);
          return false;
        }
        last = packet_.place.last_chunk;
      }
      AddLoss(reader.slot, loss_bit, chunk.id);
      if constexpr (kObserved && kMode == Mode::kRead)
        observer_->OnPacketAbandoned(sequence.key, {chunk.id, fragment.offset, last}, loss_bit);
      if (kind != FragmentKind::kBegin) Consume<kMode>(chunk, fragment.size_with_header());
    }
  }

  /// Follows a packet from its first fragment over the sequence's chunks; consumes what the outcome
  /// asks for and, if all of it is there, makes packet_.
  /// @param loss_bit what a packet that is not whole is lost to
  /// @param stall set if the outcome is kUnfinished
  template <Mode kMode>
  Chain Reassemble(const Reader& reader, const Fragment& begin, uint32_t& loss_bit, Stall& stall) {
    const Sequence& sequence = s_.sequences[reader.slot];
    const ChunkList& list = sequence.chunks;
    const StoredChunk& first = s_.chunks[list.front()];
    slices_.assign(1, store_.Slice(first.offset(), begin));
    chain_.assign(1, begin.size_with_header());
    packet_.size = begin.size();
    packet_.place.last_chunk = first.id;
    loss_bit = kLossOverwrite;
    const Chain outcome = FollowChain(reader, list, loss_bit, stall);
    if (outcome == Chain::kWhole) {
      ++s_.stats.readaheads_succeeded;
      packet_.slices = slices_;
      SetPlace(sequence, first, begin, packet_.place.last_chunk);
    } else {
      ++s_.stats.readaheads_failed;
    }
    if (outcome != Chain::kUnfinished ||
        (kMode == Mode::kErase && s_.rules.clearing_consumes_fragments)) {
      for (uint32_t i = 0; i < chain_.size(); ++i)
        if (chain_[i] > 0) Consume<kMode>(s_.chunks[list[i]], chain_[i]);
    }
    return outcome;
  }

  /// Collects the packet's fragments after the first one, in slices_, chain_ and packet_.
  Chain FollowChain(const Reader& reader, const ChunkList& list, uint32_t& loss_bit, Stall& stall) {
    constexpr uint32_t kFetchedAhead = 12;  // chunks
    const auto lost = [&loss_bit](uint32_t bit) {
      loss_bit = bit;
      return Chain::kLost;
    };
    stall = {s_.chunks[list.front()].id, StallReason::kNeedsPatch};
    if ((s_.chunks[list.front()].flags & kNeedsPatching) != 0) return Chain::kUnfinished;
    for (uint32_t i = 1; i < list.size(); ++i) {
      const StoredChunk& chunk = s_.chunks[list[i]];
      if (i + kFetchedAhead < list.size()) Prefetch(s_.chunks[list[i + kFetchedAhead]], 1);
      const ChunkId previous = std::exchange(stall.chunk, chunk.id);
      if ((chunk.flags & kNeedsPatching) != 0) return Chain::kUnfinished;
      if (reader.met_gap || chunk.id != Successor(previous)) return lost(kLossReassemblyGap);
      Fragment fragment;
      const FragmentStatus status = Read(chunk, chunk.unread_offset(), fragment);
      if (status == FragmentStatus::kCorrupted) return lost(kLossChunkCorrupted);
      if (status != FragmentStatus::kFragment) {
        chain_.push_back(0);
        continue;
      }
      const FragmentKind kind = KindOf(fragment, chunk.payload_size, chunk.flags);
      if (kind == FragmentKind::kBegin || kind == FragmentKind::kWhole)
        return lost(kLossReassemblyBrokenChain);
      slices_.push_back(store_.Slice(chunk.offset(), fragment));
      chain_.push_back(fragment.size_with_header());
      packet_.size += fragment.size();
      packet_.place.last_chunk = chunk.id;
      if (kind == FragmentKind::kEnd) return Chain::kWhole;
    }
    stall.reason = StallReason::kMissingChunk;
    return Chain::kUnfinished;
  }

  // Read passes, in buffer order.

  void ReportStall(uint32_t slot, Stall stall) {
    if constexpr (kObserved)
      observer_->OnStalled(s_.sequences[slot].key, stall.chunk, stall.reason);
  }

  /// The pass leaves the sequence, which waits for something.
  void LeaveAt(Stall stall, const Reader& reader) {
    s_.sequences[reader.slot].skipped_in_pass = s_.pass;
    s_.stalled.Note(reader.slot, stall, /*repeats=*/!reader.moved);
    ReportStall(reader.slot, stall);
  }

  /// Begins a pass after the stalled prefix, with what the pass would count and report there.
  void BeginAfterStalled() {
    read_ref_ = s_.stalled.BeginPass(s_.chunks);
    s_.stats.readaheads_failed += s_.stalled.failed_readaheads();
    for (const StalledPrefix::Entry& entry : s_.stalled.entries())
      ReportStall(entry.slot, s_.stalled.StallOf(entry.slot));
  }

  /// The packet after a whole one, if it is a whole one of the same chunk, too, as most are: what
  /// is the same for both stays in packet_. False: it takes a closer look.
  [[gnu::always_inline]] bool NextOfRun() {
    StoredChunk& chunk = s_.chunks[run_ref_];
    Fragment fragment;
    if (Read(chunk, reader_.position, fragment) != FragmentStatus::kFragment ||
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
  [[gnu::always_inline]] void SetWhole(const StoredChunk& chunk, const Fragment& fragment) {
    whole_slice_ = store_.Slice(chunk.offset(), fragment);
    packet_.size = fragment.size();
    packet_.place.first_offset = fragment.offset;
  }

  const Packet* Advance() {
    if (!reading_) return nullptr;
    if (!std::exchange(begun_, true)) BeginAfterStalled();
    for (; has_reader_ || read_ref_ != s_.chunks.end(); ++read_ref_) {
      const StoredChunk& chunk = s_.chunks[read_ref_];
      if (!has_reader_ && !chunk.is_padding()) {
        if (read_ref_ + 1 != s_.chunks.end()) PrefetchForRead(s_.chunks[read_ref_ + 1]);
        reader_ = MakeReader(read_ref_);
        has_reader_ = true;
      }
      bool stalled = false;
      if (has_reader_) {
        Sequence& sequence = s_.sequences[reader_.slot];
        if (NextOf<Mode::kRead>(reader_)) {
          reader_.moved = true;
          packet_.dropped = s_.rules.reports_loss_causes
                                ? sequence.loss_bits
                                : static_cast<uint32_t>(sequence.loss_bits != 0);
          sequence.loss_bits = 0;
          if constexpr (kObserved) observer_->OnPacketReturned(packet_);
          return &packet_;
        }
        has_reader_ = false;
        stalled = sequence.skipped_in_pass == s_.pass;
      }
      s_.stalled.Add(read_ref_, chunk, stalled);
    }
    reading_ = false;
    return nullptr;
  }

  /// The chunk will be read soon: all of it, if it has whole packets alone; of other chunks, the
  /// first fragment.
  [[gnu::always_inline]] void PrefetchForRead(const StoredChunk& chunk) const {
    if (!chunk.is_padding()) Prefetch(chunk, chunk.all_whole ? chunk.payload_size : 1);
  }

  State s_;
  PayloadStore store_;
  EngineObserver* observer_;
  StableVector<WriterHistogram> histograms_;  // by sequence slot; a clone has none
  uint64_t looks_ = 0;
  // The pass under way.
  ChunkRef read_ref_ = 0;
  bool reading_ = false;
  bool begun_ = false;  // packets were asked for
  bool has_reader_ = false;
  Reader reader_;
  // The chunk of the whole packet that was returned last, and the end of its payload; 0: the last
  // packet was not such a one. No chunk moves while a pass is under way.
  ChunkRef run_ref_ = 0;
  uint32_t run_end_ = 0;
  Packet packet_;
  Bytes whole_slice_;
  std::vector<Bytes> slices_;
  std::vector<uint32_t> chain_;  // fragment sizes of a reassembly, by position in the chunk list
};

}  // namespace v2

uint64_t LooksOf(const Engine& v2_engine) {
  if (const auto* engine = dynamic_cast<const v2::V2Engine<true>*>(&v2_engine))
    return engine->looks();
  return dynamic_cast<const v2::V2Engine<false>&>(v2_engine).looks();
}

Result<std::unique_ptr<Engine>> CreateV2Engine(const V2Rules& rules, const EngineConfig& config,
                                               bool skips_stalled) {
  constexpr uint64_t kLimit = (uint64_t{1} << 32) - kPageBytes;
  if (config.size == 0 || config.size > kLimit)
    return Fail(ErrorCode::kLimit, "a v2 buffer has at least 1 byte, and at most 4 GiB less 4 KiB");
  const uint64_t size = PagesUp(config.size);
  RS_ASSIGN_OR_RETURN(PayloadStore store, PayloadStore::OfSize(size));
  v2::State state{.rules = rules,
                  .size = size,
                  .discards = config.policy == FillPolicy::kDiscard,
                  .stats = {.buffer_size = size},
                  .stalled = v2::StalledPrefix(skips_stalled)};
  if (config.observer != nullptr)
    return std::make_unique<v2::V2Engine<true>>(std::move(state), std::move(store),
                                                config.observer);
  return std::make_unique<v2::V2Engine<false>>(std::move(state), std::move(store), nullptr);
}

}  // namespace ringscope
