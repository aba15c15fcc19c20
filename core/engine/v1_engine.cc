#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/gap_list.h"
#include "core/base/sequence_map.h"
#include "core/base/wire.h"
#include "core/engine/chunk_ring.h"
#include "core/engine/engine.h"
#include "core/engine/payload_store.h"
#include "core/perfetto/commit_request.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/fragment.h"

namespace ringscope {
namespace v1 {

constexpr uint32_t kMaxRecord = 65535;

/// A chunk in the buffer, or padding between chunks.
struct Chunk {
  static constexpr uint32_t kPadding = UINT32_MAX;

  uint32_t offset_16 = 0;        // of its record in the buffer, in units of 16 bytes
  uint32_t record_size = 0;      // header and alignment included
  uint32_t sequence = kPadding;  // its slot
  uint32_t id = 0;               // the chunk id as a plain number
  Identity identity;             // of the commit that brought it
  uint32_t next_fragment = 0;    // offset in the payload
  uint16_t fragments = 0;
  uint16_t fragments_read = 0;
  uint8_t flags = 0;
  bool complete = true;
  bool skipped_last = false;  // the last read of it gave no packet

  uint64_t offset() const { return uint64_t{offset_16} * 16; }
  bool is_padding() const { return sequence == kPadding; }
  bool is_unread() const { return fragments_read < fragments; }
  uint32_t payload_size() const { return record_size - kStoredHeaderSize; }  // with alignment bytes
};

/// Chunks of a sequence that follow each other without a hole, all of them held: what reading found
/// out about them needs no second look.
struct ChunkStretch {
  bool is_known = false;
  uint32_t first = 0;  // chunk ids
  uint32_t last = 0;

  bool IsKnownFrom(uint32_t id) const { return is_known && first == id; }
  /// A chunk changes: what was found out may not hold.
  void OnChanged(uint32_t id) { is_known &= id - first > last - first; }
  /// A chunk is taken out: if it is the first, the run is shorter.
  void OnErased(uint32_t id) {
    if (id == first && first != last)
      ++first;
    else
      OnChanged(id);
  }
};

struct Sequence {
  SequenceKey key;
  SortedList chunks;          // places in the ring, by chunk id as a plain number
  uint32_t last_written = 0;  // highest chunk id, modulo 2^32
  // A visit skips what earlier visits have read:
  ChunkStretch read_out;           // from where a visit begins; all read out but for the last
  std::optional<uint32_t> marker;  // the chunk in it that was read from last, before its last one
  /// A packet that begins in the first, and continues through all of them.
  ChunkStretch looked_ahead;
};

/// Everything that a clone copies.
struct State {
  uint64_t size = 0;
  bool discards = false;  // fill policy
  bool sealed = false;    // discard mode, and a chunk did not fit
  uint64_t wr = 0;        // write cursor
  StableVector<Sequence> sequences;
  KeyIndex slots;      // by sequence key
  Ring<Chunk> chunks;  // and padding, in buffer order, beginning at the cursor; see ChunkRing
  BufferStats stats;
};

/// TraceBuffer V1.
class V1Engine final : public Engine {
 public:
  V1Engine(State state, PayloadStore store, EngineObserver* observer)
      : s_(std::move(state)), store_(std::move(store)), observer_(observer) {}

  void Commit(const ChunkCommit& commit) override {
    reading_ = false;
    const uint32_t size = OuterSize(static_cast<uint32_t>(commit.payload.size()));
    if (size > std::min<uint64_t>(s_.size, kMaxRecord))
      return Discard(commit, DiscardReason::kTooLarge);
    const FinishedPart part =
        FinishedPartOf(commit.fragments, commit.flags & kMaxChunkFlags, commit.complete);
    const uint32_t id = Raw(commit.chunk);
    uint32_t slot = s_.slots.Find(commit.sequence);
    if (slot != KeyIndex::kNone) {
      if (Chunk* const chunk = FindChunk(s_.sequences[slot], id))
        return Recommit(s_.sequences[slot], *chunk, commit, size, part);
    }
    if (s_.sealed) return Discard(commit, DiscardReason::kSealed);

    const std::optional<uint64_t> gap = MakeSpace(size, commit);
    if (!gap) {
      s_.sealed = true;
      return Discard(commit, DiscardReason::kFull);
    }
    if (slot == KeyIndex::kNone) {
      slot = static_cast<uint32_t>(s_.sequences.size());
      s_.slots.Insert(commit.sequence, slot);
      s_.sequences.emplace_back().key = commit.sequence;
    }
    const Chunk chunk{.offset_16 = static_cast<uint32_t>(s_.wr / 16),
                      .record_size = size,
                      .sequence = slot,
                      .id = id,
                      .identity = commit.identity,
                      .fragments = part.fragments,
                      .flags = part.flags,
                      .complete = commit.complete};
    Write(chunk, commit.payload);
    Sequence& sequence = s_.sequences[slot];
    // The lower bits name a place in the ring, and are never kRemoved.
    sequence.chunks.Insert({.key = id, .value = s_.chunks.PushBack(chunk) & INT32_MAX});
    ++s_.stats.chunks_written;
    s_.stats.bytes_written += size;
    s_.wr += size;
    if (s_.wr == s_.size) Wrap();
    constexpr uint32_t kNewer = 0x7FFFFFFF;
    if (id - sequence.last_written < kNewer)
      sequence.last_written = id;
    else
      ++s_.stats.chunks_committed_out_of_order;
    if (*gap > 0) s_.chunks.PushFront(AddPadding(*gap));  // the cursor stays in front of it
    if (observer_ != nullptr) observer_->OnCommitted(Observed(chunk));
  }

  bool ApplyPatches(const ChunkPatches& patches) override {
    const uint32_t slot = s_.slots.Find(patches.sequence);
    Chunk* const chunk =
        slot == KeyIndex::kNone ? nullptr : FindChunk(s_.sequences[slot], Raw(patches.chunk));
    if (chunk == nullptr) {
      ++s_.stats.patches_failed;
      if (observer_ != nullptr) observer_->OnPatchMissed(nullptr, patches, PatchMiss::kNoSuchChunk);
      return false;
    }
    if (!store_.Apply(chunk->offset(), chunk->payload_size(), patches.patches)) {
      ++s_.stats.patches_failed;
      if (observer_ != nullptr) {
        const ObservedChunk missed = Observed(*chunk);
        observer_->OnPatchMissed(&missed, patches, PatchMiss::kOutOfBounds);
      }
      return false;
    }
    s_.stats.patches_succeeded += patches.patches.size();
    if (!patches.more) chunk->flags &= static_cast<uint8_t>(~kNeedsPatching);
    if (observer_ != nullptr) observer_->OnPatched(Observed(*chunk), patches);
    return true;
  }

  void BeginRead() override {
    const auto by_key = [&](uint32_t a, uint32_t b) {
      return s_.sequences[a].key < s_.sequences[b].key;
    };
    const auto known = static_cast<std::ptrdiff_t>(order_.size());
    while (order_.size() < s_.sequences.size())
      order_.push_back(static_cast<uint32_t>(order_.size()));
    std::sort(order_.begin() + known, order_.end(), by_key);
    std::inplace_merge(order_.begin(), order_.begin() + known, order_.end(), by_key);
    at_sequence_ = 0;
    EnterSequence();
  }

  const Packet* NextPacket() override {
    uint32_t dropped = std::exchange(dropped_, 1);
    bool lost_ahead = false;  // a packet that ends in the current chunk was lost
    Identity identity;
    while (reading_) {
      Chunk& chunk = ChunkAt(at_chunk_);
      // After such a loss, what this call returns of the chunk has the lost packet's identity.
      if (!std::exchange(lost_ahead, false)) identity = chunk.identity;
      bool sequence_ends = (chunk.flags & kNeedsPatching) != 0;
      if (sequence_ends) ReportStall(chunk, StallReason::kNeedsPatch);
      if (!sequence_ends && chunk.fragments_read > 0) dropped = chunk.skipped_last ? 1 : 0;
      while (!sequence_ends && !lost_ahead && chunk.is_unread()) {
        packet_.size = 0;
        slices_.clear();
        const uint32_t id = chunk.id;
        const uint32_t offset = chunk.next_fragment;
        if (chunk.fragments_read == 0) PrefetchNext();
        if (chunk.fragments_read == 0 && (chunk.flags & kFirstContinues) != 0) {
          ReportAbandoned(id, offset, kLossOrphanContinuation);
          ReadNext(chunk);  // its beginning is not here: skipped permanently
          chunk.skipped_last = true;
          dropped = 1;
          continue;
        }
        const bool continues =
            chunk.fragments_read == chunk.fragments - 1 && (chunk.flags & kLastContinues) != 0;
        const Found found = continues ? ReadAhead() : ReadNext(chunk);
        if (found == Found::kPacket) return Return(id, offset, identity, dropped);
        sequence_ends = found == Found::kNotYet;
        if (found != Found::kInvalid) continue;
        ReportAbandoned(id, offset, kLossChunkCorrupted);
        dropped = 1;
        if (continues)
          lost_ahead = true;  // continues in the chunk now reached
        else
          chunk.skipped_last = true;
      }
      if (lost_ahead) continue;
      const uint32_t left = at_chunk_;
      if (!sequence_ends && !StepForward()) {
        ReportEnd(left, false);
        sequence_ends = true;
      }
      if (sequence_ends) {
        ++at_sequence_;
        EnterSequence();
        dropped = std::exchange(dropped_, 1);
      }
    }
    return nullptr;
  }

  Result<std::unique_ptr<Engine>> Clone() const override {
    // Bytes never written need no copy: before the first wrap, all from the cursor on.
    const uint64_t used = s_.stats.write_wrap_count == 0 ? s_.wr : s_.size;
    RS_ASSIGN_OR_RETURN(PayloadStore store, store_.Clone(used, s_.size));
    State state = s_;
    state.stats = s_.stats.WithoutReads();
    // A clone is read once. It starts without these caches, so tests see that they change nothing.
    for (size_t slot = 0; slot < state.sequences.size(); ++slot) {
      state.sequences[slot].read_out.is_known = false;
      state.sequences[slot].looked_ahead.is_known = false;
    }
    return std::make_unique<V1Engine>(std::move(state), std::move(store), nullptr);
  }

  const BufferStats& stats() const override { return s_.stats; }

  void VisitWriterStats(const std::function<void(const WriterStats&)>& visit) const override {
    for (size_t n = 0; n < histograms_.size(); ++n)
      visit({histograms_.At(n).key, &histograms_.At(n).value});
  }

  Result<uint64_t> VisitChunks(const ChunkVisitor& visit) const override {
    s_.chunks.VisitByOffset(s_.wr, [&](const Chunk& chunk) {
      visit(chunk.is_padding()
                ? ObservedChunk{.offset = chunk.offset(), .outer_size = chunk.record_size}
                : Observed(chunk));
    });
    return s_.wr;
  }

  std::string CheckInvariants() const override {
    if (s_.wr >= s_.size) return "the cursor is out of bounds";
    uint64_t listed = 0, held = 0;
    for (size_t slot = 0; slot < s_.sequences.size(); ++slot) {
      const SortedList& list = s_.sequences[slot].chunks;
      for (uint32_t i = 0; i < list.size(); ++i) {
        if (i > 0 && list[i - 1].key >= list[i].key) return "a sequence's list is not sorted";
        if (list.IsRemoved(i)) continue;
        const Chunk& chunk = s_.chunks[list[i].value];
        ++listed;
        if (chunk.id != list[i].key || chunk.sequence != slot) return "a list has another's chunk";
        if (chunk.next_fragment > chunk.payload_size()) return "a fragment is outside its record";
      }
    }
    // Buffer order starts at the cursor, or at 0 where nothing follows the cursor.
    uint64_t at = s_.chunks.empty() || s_.chunks.front().offset() == s_.wr ? s_.wr : 0;
    for (RingRef ref = s_.chunks.begin(); ref != s_.chunks.end(); ++ref) {
      const Chunk& chunk = s_.chunks[ref];
      if (chunk.offset() != at) {
        // From the high-water mark, or from the buffer's end, back to its start.
        if (chunk.offset() != 0 || at <= s_.wr) return "records do not tile the buffer";
        at = 0;
      }
      held += !chunk.is_padding();
      at += chunk.record_size;
      if (at > s_.size) return "a record reaches beyond the buffer";
      if (at == s_.size) at = 0;
    }
    if (!s_.chunks.empty() && at != s_.wr) return "records do not reach the cursor";
    return listed == held ? "" : "chunks held and chunks listed differ";
  }

 private:
  // Writing.

  void Recommit(Sequence& sequence, Chunk& chunk, const ChunkCommit& commit, uint32_t record_size,
                const FinishedPart& part) {
    if (record_size != chunk.record_size || chunk.fragments > part.fragments ||
        (chunk.flags & ~part.flags) != 0)
      return Discard(commit, DiscardReason::kBadRecommit);
    if (chunk.fragments < part.fragments) {
      const Chunk* const next = FindChunk(sequence, chunk.id + 1);
      if (next != nullptr && next->fragments_read > 0)
        return Discard(commit, DiscardReason::kBadRecommit);
      if (chunk.fragments_read > chunk.fragments) return;
      chunk.fragments = part.fragments;
      chunk.flags = part.flags;
      chunk.complete = commit.complete;
      sequence.read_out.OnChanged(chunk.id);
      sequence.looked_ahead.OnChanged(chunk.id);
      Write(chunk, commit.payload);
      ++s_.stats.chunks_rewritten;
    }
    if (observer_ != nullptr) observer_->OnRewritten(Observed(chunk));
  }

  /// Writes the payload, and zeros after it.
  void Write(const Chunk& chunk, Bytes payload) {
    store_.Write(chunk.offset(), payload);
    std::memset(store_.At(chunk.offset()) + payload.size(), 0,
                chunk.payload_size() - payload.size());
  }

  /// Returns nullptr if the sequence has no such chunk in the buffer.
  Chunk* FindChunk(const Sequence& sequence, uint32_t id) {
    const uint32_t at = sequence.chunks.LowerBound(id);
    return sequence.chunks.Holds(at, id) ? &s_.chunks[sequence.chunks[at].value] : nullptr;
  }

  /// As Clear, after a wrap if the record does not fit to the buffer's end.
  std::optional<uint64_t> MakeSpace(uint32_t record_size, const ChunkCommit& by) {
    const uint64_t to_end = s_.size - s_.wr;
    if (record_size > to_end) {
      if (!Clear(to_end, by)) return std::nullopt;
      s_.chunks.PushBack(AddPadding(to_end));
      Wrap();
    }
    return Clear(record_size, by);
  }

  /// Takes the chunks out whose records start in the `size` bytes at the cursor.
  /// @return bytes between there and the next record; nullopt, and nothing changed: discard mode,
  /// and something is unread
  std::optional<uint64_t> Clear(uint64_t size, const ChunkCommit& by) {
    const uint64_t end = s_.wr + size;
    uint64_t at = s_.wr;
    // Before the buffer was full for the first time, nothing follows the cursor.
    const auto is_next = [&](const Chunk& chunk) { return chunk.offset() == at && at < end; };
    if (s_.discards) {
      for (RingRef ref = s_.chunks.begin(); ref != s_.chunks.end(); ++ref) {
        const Chunk& chunk = s_.chunks[ref];
        if (!is_next(chunk)) break;
        if (chunk.is_unread()) return std::nullopt;
        at += chunk.record_size;
      }
      at = s_.wr;
    }
    for (; !s_.chunks.empty() && is_next(s_.chunks.front()); s_.chunks.PopFront()) {
      const Chunk& chunk = s_.chunks.front();
      at += chunk.record_size;
      if (chunk.is_padding())
        s_.stats.padding_bytes_cleared += chunk.record_size;
      else
        Evict(chunk, by);
    }
    return at > end ? at - end : 0;
  }

  void Evict(const Chunk& chunk, const ChunkCommit& by) {
    if (chunk.is_unread()) {
      ++s_.stats.chunks_overwritten;
      s_.stats.bytes_overwritten += chunk.record_size;
    }
    if (observer_ != nullptr) {
      const ObservedChunk observed = Observed(chunk);
      observer_->OnEvicting(observed, by);
      observer_->OnErased(observed);
    }
    Sequence& sequence = s_.sequences[chunk.sequence];
    sequence.chunks.Remove(sequence.chunks.LowerBound(chunk.id));
    sequence.read_out.OnErased(chunk.id);
    sequence.looked_ahead.OnChanged(chunk.id);
    if (sequence.marker == chunk.id) sequence.marker.reset();
  }

  /// Counts padding at the cursor, for the ring.
  Chunk AddPadding(uint64_t size) {
    s_.stats.padding_bytes_written += size;
    if (observer_ != nullptr) observer_->OnPadding(s_.wr, static_cast<uint32_t>(size));
    return {.offset_16 = static_cast<uint32_t>(s_.wr / 16),
            .record_size = static_cast<uint32_t>(size)};
  }

  void Wrap() {
    s_.wr = 0;
    ++s_.stats.write_wrap_count;
    if (observer_ != nullptr) observer_->OnWrap();
  }

  void Discard(const ChunkCommit& commit, DiscardReason reason) {
    if (observer_ != nullptr) observer_->OnDiscarded(commit, reason);
    const bool breaks_rules =
        reason == DiscardReason::kTooLarge || reason == DiscardReason::kBadRecommit;
    ++(breaks_rules ? s_.stats.abi_violations : s_.stats.chunks_discarded);
  }

  ObservedChunk Observed(const Chunk& chunk) const {
    return {.sequence = s_.sequences[chunk.sequence].key,
            .chunk = ChunkId{chunk.id},
            .offset = chunk.offset(),
            .outer_size = chunk.record_size,
            .payload_size = chunk.payload_size(),
            .payload_avail = chunk.is_unread() ? chunk.payload_size() - chunk.next_fragment : 0,
            .flags = chunk.flags,
            .incomplete = !chunk.complete,
            .payload = {store_.At(chunk.offset()), chunk.payload_size()}};
  }

  // Reading: sequence by sequence, each in chunk order from its oldest chunk.

  enum class Found : uint8_t {
    kPacket,
    kEmpty,    // a packet without content
    kInvalid,  // an aborted packet, or an impossible size
    kNotYet,   // a packet whose end is not here
  };

  Sequence& Current() { return s_.sequences[order_[at_sequence_]]; }
  /// The current sequence's chunk at a position of its list.
  Chunk& ChunkAt(uint32_t at) { return s_.chunks[Current().chunks[at].value]; }

  /// Moves to the oldest chunk of the cursor's sequence, or of the next sequence that has any.
  void EnterSequence() {
    while (at_sequence_ != order_.size() && Current().chunks.empty()) ++at_sequence_;
    reading_ = at_sequence_ != order_.size();
    if (!reading_) return;
    Sequence& sequence = Current();
    // The first whose id is above the last written one's.
    at_chunk_ = sequence.chunks.NextItem(sequence.chunks.LowerBound(sequence.last_written + 1));
    if (at_chunk_ == sequence.chunks.size()) at_chunk_ = 0;
    dropped_ = 1;
    const uint32_t first = sequence.chunks[at_chunk_].key;
    if (!sequence.read_out.IsKnownFrom(first)) {
      sequence.read_out = {true, first, first};
      sequence.marker.reset();
      return;
    }
    // Straight to where the last visit ended, as if it had read everything up to there.
    if (sequence.marker) dropped_ = FindChunk(sequence, *sequence.marker)->skipped_last ? 1 : 0;
    at_chunk_ = sequence.chunks.LowerBound(sequence.read_out.last);
  }

  /// To the next chunk of the sequence. @return false: the sequence ends here for now
  bool MoveOn(uint32_t& at) {
    const Sequence& sequence = Current();
    const Chunk& chunk = ChunkAt(at);
    if (chunk.id == sequence.last_written || !chunk.complete) return false;
    at = sequence.chunks.NextItem(at + 1);
    if (at == sequence.chunks.size()) at = 0;
    return sequence.chunks[at].key == chunk.id + 1;
  }

  /// Moves on from the cursor's chunk, which is read out. @return as MoveOn
  bool StepForward() {
    Sequence& sequence = Current();
    const Chunk& left = ChunkAt(at_chunk_);
    if (!MoveOn(at_chunk_)) return false;
    if (left.fragments_read > 0) sequence.marker = left.id;
    sequence.read_out.last = sequence.chunks[at_chunk_].key;
    // A packet passes over it, as it is empty; the next visit will end there.
    if ((left.flags & kNeedsPatching) != 0) sequence.read_out.is_known = false;
    return true;
  }

  /// Reads the fragment where the chunk's next one begins.
  FragmentStatus ReadSize(const Chunk& chunk, Fragment& fragment) const {
    constexpr size_t kMaxVarint = 4;  // bytes; V1 reads no more
    const uint32_t size = chunk.payload_size();
    const uint32_t at = chunk.next_fragment;
    if (at >= size) return FragmentStatus::kNone;
    const wire::Varint varint =
        ReadFragmentSize(store_.At(chunk.offset()) + at, size - at, kMaxVarint);
    if (varint.size == 0) return FragmentStatus::kCorrupted;
    const uint32_t body = at + static_cast<uint32_t>(varint.size);
    if (varint.value > size - body)
      return varint.value == kWriterDropSize ? FragmentStatus::kWriterDrop
                                             : FragmentStatus::kCorrupted;
    fragment = {.offset = at, .body = body, .end = body + static_cast<uint32_t>(varint.value)};
    return FragmentStatus::kFragment;
  }

  /// Reads the current chunk's next fragment; its bytes are added to packet_.
  Found ReadNext(Chunk& chunk) {
    Fragment fragment;
    const FragmentStatus status = ReadSize(chunk, fragment);
    const bool is_valid = status == FragmentStatus::kFragment;
    if (is_valid) [[likely]] {
      chunk.next_fragment = fragment.end;
      ++chunk.fragments_read;
      chunk.skipped_last = false;
    } else {
      ++(status == FragmentStatus::kWriterDrop ? s_.stats.trace_writer_packet_loss
                                               : s_.stats.abi_violations);
      chunk.fragments_read = chunk.fragments;
      chunk.next_fragment = 0;
    }
    if (chunk.fragments_read == chunk.fragments && chunk.complete) {
      ++s_.stats.chunks_read;
      s_.stats.bytes_read += chunk.record_size;
      if (is_valid) histograms_[Current().key].Add(chunk.next_fragment);
    }
    if (!is_valid) return Found::kInvalid;
    if (fragment.size() == 0) return Found::kEmpty;
    packet_.size += fragment.size();
    slices_.push_back(store_.Slice(chunk.offset(), fragment));
    return Found::kPacket;
  }

  /// The cursor's chunk is about to be read: the sequence's next one will be soon.
  void PrefetchNext() {
    const Sequence& sequence = Current();
    const uint32_t at = sequence.chunks.NextItem(at_chunk_ + 1);
    if (at == sequence.chunks.size()) return;
    const Chunk& next = ChunkAt(at);
    PrefetchPayload(store_.At(next.offset()), next.fragments > 1 ? next.payload_size() : 1);
  }

  void ReportStall(const Chunk& chunk, StallReason reason) {
    if (observer_ != nullptr) observer_->OnStalled(Current().key, ChunkId{chunk.id}, reason);
  }
  /// Reports why the sequence ends after the chunk `at`, for now. Ending with the chunk written
  /// last is the natural end, unless a packet continues after it.
  void ReportEnd(uint32_t at, bool packet_continues) {
    const Chunk& chunk = ChunkAt(at);
    const bool is_last = chunk.id == Current().last_written;
    if (is_last && !packet_continues) return;
    ReportStall(chunk,
                chunk.complete || is_last ? StallReason::kMissingChunk : StallReason::kIncomplete);
  }

  void ReportAbandoned(uint32_t chunk, uint32_t offset, uint32_t cause) {
    if (observer_ == nullptr) return;
    observer_->OnPacketAbandoned(Current().key, {ChunkId{chunk}, offset, ChunkId{chunk}}, cause);
    observer_->OnLossBit(Current().key, ChunkId{chunk}, cause);
  }

  /// Follows a packet that begins in the current chunk. If all its fragments are in the buffer,
  /// they are consumed, valid or not, and the current chunk is the one that holds the last of them.
  Found ReadAhead() {
    ChunkStretch& known = Current().looked_ahead;
    const uint32_t begin = ChunkAt(at_chunk_).id;
    if (!known.IsKnownFrom(begin)) known = {true, begin, begin};
    uint32_t last = Current().chunks.LowerBound(known.last);
    uint32_t expected = known.last;
    bool found = false;
    bool needs_patch = false;
    uint32_t reached = last;  // the chunk after which the walk continues
    while (!found && MoveOn(last)) {
      reached = last;
      ++expected;
      const Chunk& chunk = ChunkAt(last);
      if (chunk.fragments > 0) {
        if (chunk.id != expected || (chunk.flags & kFirstContinues) == 0) break;
        needs_patch = (chunk.flags & kNeedsPatching) != 0;
        if (needs_patch) break;
        found = chunk.fragments != 1 || (chunk.flags & kLastContinues) == 0;
      }
      known.last = chunk.id;
    }
    if (!found) {
      ++s_.stats.readaheads_failed;
      if (needs_patch)
        ReportStall(ChunkAt(last), StallReason::kNeedsPatch);
      else
        ReportEnd(reached, true);
      return Found::kNotYet;
    }
    bool lost = false;
    while (true) {
      Chunk& chunk = ChunkAt(at_chunk_);
      const uint32_t offset = chunk.next_fragment;
      if (chunk.fragments > 0) {
        if (ReadNext(chunk) == Found::kInvalid) {
          lost = true;
          ReportAbandoned(chunk.id, offset, kLossChunkCorrupted);
        } else if (lost) {
          ReportAbandoned(chunk.id, offset, kLossOrphanContinuation);
        }
      }
      if (at_chunk_ == last) break;
      StepForward();
    }
    if (lost) {
      ChunkAt(at_chunk_).skipped_last = true;
      return Found::kInvalid;
    }
    ++s_.stats.readaheads_succeeded;
    return Found::kPacket;
  }

  const Packet* Return(uint32_t first_chunk, uint32_t first_offset, Identity identity,
                       uint32_t dropped) {
    packet_.sequence = Current().key;
    packet_.identity = identity;
    packet_.dropped = dropped;
    packet_.slices = slices_;
    packet_.place = {ChunkId{first_chunk}, first_offset, ChunkId{ChunkAt(at_chunk_).id}};
    if (observer_ != nullptr) observer_->OnPacketReturned(packet_);
    return &packet_;
  }

  State s_;
  PayloadStore store_;
  EngineObserver* observer_;
  SequenceMap<WriterHistogram> histograms_;  // a clone has none
  std::vector<uint32_t> order_;              // slots, by key, as of the last BeginRead
  // The pass under way: the sequence (index into order_), and the chunk in its list.
  bool reading_ = false;
  size_t at_sequence_ = 0;
  uint32_t at_chunk_ = 0;
  uint32_t dropped_ = 1;  // the next packet's flag, as far as it is known
  Packet packet_;
  std::vector<Bytes> slices_;
};

}  // namespace v1

Result<std::unique_ptr<Engine>> CreateV1Engine(const EngineConfig& config) {
  constexpr uint64_t kLimit = (uint64_t{1} << 32) - 16;
  if (config.size == 0 || config.size > kLimit || config.size % 16 != 0)
    return Fail(ErrorCode::kLimit,
                "a v1 buffer has at least 16 bytes, at most 4 GiB less 16, and a multiple of 16");
  RS_ASSIGN_OR_RETURN(PayloadStore store, PayloadStore::OfSize(config.size));
  v1::State state{.size = config.size,
                  .discards = config.policy == FillPolicy::kDiscard,
                  .stats = {.buffer_size = config.size}};
  return std::make_unique<v1::V1Engine>(std::move(state), std::move(store), config.observer);
}

}  // namespace ringscope
