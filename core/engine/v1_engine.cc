#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/gap_list.h"
#include "core/base/sequence_map.h"
#include "core/base/wire.h"
#include "core/engine/chunk_ring.h"
#include "core/engine/engine.h"
#include "core/engine/zeroed_storage.h"
#include "core/perfetto/commit_request.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/fragment.h"

namespace ringscope {
namespace v1 {

/// The index's entry of a chunk in the buffer.
struct Chunk {
  uint64_t offset = 0;         // of its record in the buffer
  Identity identity;           // of the commit that brought it
  uint32_t id = 0;             // the chunk id as a plain number
  uint32_t sequence = 0;       // its slot
  uint32_t record_size = 0;    // header and alignment included
  uint32_t next_fragment = 0;  // offset in the payload
  uint16_t fragments = 0;
  uint16_t fragments_read = 0;
  uint8_t flags = 0;
  bool complete = true;
  bool skipped_last = false;  // the last read of it gave no packet

  uint32_t payload_size() const { return record_size - kStoredHeaderSize; }  // with alignment bytes
};

/// Names a chunk as long as it is in the buffer.
using ChunkSlot = uint32_t;

/// V1 reads at most so many bytes of a fragment's size.
inline constexpr size_t kMaxVarintV1 = 4;

/// Where V1 keeps its chunks' payloads.
class PayloadStore {
 public:
  explicit PayloadStore(ZeroedStorage storage) : storage_(std::move(storage)) {}

  /// Takes the commit's payload as the chunk's.
  void Write(const Chunk& chunk, const ChunkCommit& commit) {
    uint8_t* const to = storage_.get() + chunk.offset + kStoredHeaderSize;
    const size_t bytes = commit.payload.size();
    if (bytes > 0) std::memcpy(to, commit.payload.data(), bytes);
    std::memset(to + bytes, 0, chunk.record_size - kStoredHeaderSize - bytes);
  }
  /// The chunk's next fragment.
  FragmentStatus Read(const Chunk& chunk, Fragment& out) const {
    const uint32_t size = chunk.payload_size();
    const uint32_t at = chunk.next_fragment;
    if (at >= size) return FragmentStatus::kNone;
    const wire::Varint varint = ReadFragmentSize(At(chunk) + at, size - at, kMaxVarintV1);
    if (varint.size == 0) return FragmentStatus::kCorrupted;
    const uint32_t body = at + static_cast<uint32_t>(varint.size);
    if (varint.value > size - body)
      return varint.value == kWriterDropSize ? FragmentStatus::kWriterDrop
                                             : FragmentStatus::kCorrupted;
    out = {.offset = at, .body = body, .end = body + static_cast<uint32_t>(varint.value)};
    return FragmentStatus::kFragment;
  }
  /// The patch is within the payload.
  void Apply(const Chunk& chunk, const Patch& patch) {
    std::memcpy(storage_.get() + chunk.offset + kStoredHeaderSize + patch.offset, patch.data,
                kPatchSize);
  }
  void Prefetch(const Chunk& chunk) const {
    PrefetchPayload(At(chunk), chunk.fragments > 1 ? chunk.payload_size() : 1);
  }
  Bytes Slice(const Chunk& chunk, const Fragment& fragment) const {
    return {At(chunk) + fragment.body, fragment.size()};
  }
  Bytes Payload(const Chunk& chunk) const { return {At(chunk), chunk.payload_size()}; }
  const uint8_t* bytes() const { return storage_.get(); }

 private:
  const uint8_t* At(const Chunk& chunk) const {
    return storage_.get() + chunk.offset + kStoredHeaderSize;
  }

  ZeroedStorage storage_;
};

/// Chunks of a sequence that follow each other without a hole, all of them held: what reading found
/// out about them needs no second look.
class ChunkStretch {
 public:
  void Begin(uint32_t id) {
    known_ = true;
    first_ = last_ = id;
  }
  void ExtendTo(uint32_t id) { last_ = id; }
  void Forget() { known_ = false; }
  bool IsKnownFrom(uint32_t id) const { return known_ && first_ == id; }
  uint32_t last() const { return last_; }

  /// A chunk changes: what was found out may not hold.
  void OnChanged(uint32_t id) {
    if (id - first_ <= last_ - first_) known_ = false;
  }
  /// A chunk is taken out: if it is the first, the run is shorter.
  void OnErased(uint32_t id) {
    if (id == first_ && first_ != last_)
      ++first_;
    else
      OnChanged(id);
  }

 private:
  bool known_ = false;
  uint32_t first_ = 0;
  uint32_t last_ = 0;
};

struct Sequence {
  SequenceKey key;
  SortedList chunks;          // ChunkSlots by chunk id as a plain number
  uint32_t last_written = 0;  // highest chunk id, modulo 2^32
  // A visit skips what earlier visits have read:
  ChunkStretch read_out;  // from where a visit begins; all read out but for the last
  uint32_t marker = 0;    // the chunk in it that was read from last, before its last one
  bool has_marker = false;
  ChunkStretch
      looked_ahead;  // a packet that begins in the first, and continues through all of them
};

/// Content of one place of the buffer: a chunk's record or padding.
struct Record {
  static constexpr ChunkSlot kPadding = UINT32_MAX;

  uint64_t offset = 0;
  uint32_t size = 0;
  ChunkSlot chunk = kPadding;

  bool is_padding() const { return chunk == kPadding; }
};

/// TraceBuffer V1.
class V1Engine final : public Engine {
 public:
  V1Engine(const EngineConfig& config, PayloadStore store);

  void Commit(const ChunkCommit& commit) override;
  bool ApplyPatches(const ChunkPatches& patches) override;
  void BeginRead() override;
  const Packet* NextPacket() override;
  Result<std::unique_ptr<Engine>> Clone() const override;
  const BufferStats& stats() const override { return stats_; }
  void VisitWriterStats(const std::function<void(const WriterStats&)>& visit) const override;
  Result<uint64_t> VisitChunks(const ChunkVisitor& visit) const override;
  std::string CheckInvariants() const override;

 private:
  enum class Found : uint8_t { kPacket, kEmpty, kInvalid };
  enum class Ahead : uint8_t { kPacket, kLost, kFailed };

  // Writing.
  void Recommit(Sequence& sequence, ChunkSlot slot, const ChunkCommit& commit, uint32_t record_size,
                uint16_t fragments, uint8_t flags);
  bool MakeSpace(uint32_t record_size, const ChunkCommit& commit, uint64_t& gap);
  bool Clear(uint64_t size, const ChunkCommit& by, uint64_t& gap);
  void NotePadding(uint64_t offset, uint64_t size);
  void Discard(const ChunkCommit& commit, DiscardReason reason);
  uint32_t AddSequence(SequenceKey key);
  ChunkSlot NewChunk();
  void Erase(ChunkSlot slot, const ChunkCommit& by);
  ChunkSlot FindChunkSlot(const Sequence& sequence, uint32_t id) const;
  Chunk* FindChunk(const Sequence& sequence, uint32_t id);
  ObservedChunk Observed(const Chunk& chunk) const;
  // Reading.
  void EnterSequence();
  void EndSequence();
  bool MoveOn(uint32_t& at) const;
  bool StepForward();
  void PrefetchNext() const;
  void BeginPacket();
  Found ReadFragment(Chunk& chunk);
  void CountRead(const Chunk& chunk);
  void CountIfReadOut(const Chunk& chunk);
  SequenceKey CurrentKey() const;
  void ReportStall(uint32_t at, bool packet_continues) const;
  Sequence& Current() { return sequences_[order_[at_sequence_]]; }
  const Sequence& Current() const { return sequences_[order_[at_sequence_]]; }
  /// The current sequence's chunk at a position of its list.
  Chunk& ChunkAt(uint32_t at) { return chunks_[Current().chunks[at].value]; }
  const Chunk& ChunkAt(uint32_t at) const { return chunks_[Current().chunks[at].value]; }
  void ReportAbandoned(uint32_t chunk, uint32_t offset, uint32_t cause) const;
  Ahead ReadAhead();
  const Packet* Return(uint32_t first_chunk, uint32_t first_offset, Identity identity,
                       uint32_t dropped);

  uint64_t size_;
  bool discards_;
  bool sealed_ = false;
  uint64_t wr_ = 0;
  PayloadStore store_;
  EngineObserver* observer_;
  StableVector<Sequence> sequences_;
  KeyIndex slots_;               // by sequence key
  std::vector<uint32_t> order_;  // slots, by key, as of the last BeginRead
  StableVector<Chunk> chunks_;   // by ChunkSlot
  std::vector<ChunkSlot> free_chunks_;
  /// All records in buffer order, beginning at the cursor; see ChunkRing.
  Ring<Record> records_;
  BufferStats stats_;
  SequenceMap<WriterHistogram> histograms_;
  // The pass under way: the sequence (index into order_), and the chunk in its list.
  bool reading_ = false;
  size_t at_sequence_ = 0;
  uint32_t at_chunk_ = 0;
  uint32_t dropped_ = 1;  // the next packet's flag, as far as it is known
  Packet packet_;
  std::vector<Bytes> slices_;
};

namespace {

constexpr uint32_t kMaxRecord = 65535;
constexpr ChunkSlot kNoChunk = UINT32_MAX;

}  // namespace

V1Engine::V1Engine(const EngineConfig& config, PayloadStore store)
    : size_(config.size),
      discards_(config.policy == FillPolicy::kDiscard),
      store_(std::move(store)),
      observer_(config.observer) {
  stats_.buffer_size = size_;
}

void V1Engine::Commit(const ChunkCommit& commit) {
  reading_ = false;
  const uint32_t size = OuterSize(static_cast<uint32_t>(commit.payload.size()));
  if (size > std::min<uint64_t>(size_, kMaxRecord))
    return Discard(commit, DiscardReason::kTooLarge);
  const auto [fragments, flags] =
      FinishedPartOf(commit.fragments, commit.flags & kMaxChunkFlags, commit.complete);
  const uint32_t id = Raw(commit.chunk);
  const uint32_t known = slots_.Find(commit.sequence);
  if (known != KeyIndex::kNone) {
    const ChunkSlot chunk = FindChunkSlot(sequences_[known], id);
    if (chunk != kNoChunk)
      return Recommit(sequences_[known], chunk, commit, size, fragments, flags);
  }
  if (sealed_) return Discard(commit, DiscardReason::kSealed);

  uint64_t gap = 0;
  if (!MakeSpace(size, commit, gap)) {
    sealed_ = true;
    return Discard(commit, DiscardReason::kFull);
  }
  const uint32_t slot = known != KeyIndex::kNone ? known : AddSequence(commit.sequence);
  Sequence& sequence = sequences_[slot];
  const ChunkSlot chunk_slot = NewChunk();
  Chunk& chunk = chunks_[chunk_slot];
  chunk = {.offset = wr_,
           .identity = commit.identity,
           .id = id,
           .sequence = slot,
           .record_size = size,
           .fragments = fragments,
           .flags = flags,
           .complete = commit.complete};
  store_.Write(chunk, commit);
  sequence.chunks.Insert({.key = id, .value = chunk_slot});
  records_.PushBack({.offset = wr_, .size = size, .chunk = chunk_slot});
  ++stats_.chunks_written;
  stats_.bytes_written += size;
  wr_ += size;
  if (wr_ == size_) {
    wr_ = 0;
    ++stats_.write_wrap_count;
    if (observer_ != nullptr) observer_->OnWrap();
  }
  constexpr uint32_t kNewer = 0x7FFFFFFF;
  if (id - sequence.last_written < kNewer)
    sequence.last_written = id;
  else
    ++stats_.chunks_committed_out_of_order;
  if (gap > 0) {  // the cursor stays in front of it
    records_.PushFront({.offset = wr_, .size = static_cast<uint32_t>(gap)});
    NotePadding(wr_, gap);
  }
  if (observer_ != nullptr) observer_->OnCommitted(Observed(chunk));
}

uint32_t V1Engine::AddSequence(SequenceKey key) {
  const auto slot = static_cast<uint32_t>(sequences_.size());
  slots_.Insert(key, slot);
  sequences_.emplace_back().key = key;
  return slot;
}

ChunkSlot V1Engine::NewChunk() {
  if (free_chunks_.empty()) {
    chunks_.emplace_back();
    return static_cast<ChunkSlot>(chunks_.size() - 1);
  }
  const ChunkSlot slot = free_chunks_.back();
  free_chunks_.pop_back();
  return slot;
}

void V1Engine::Recommit(Sequence& sequence, ChunkSlot slot, const ChunkCommit& commit,
                        uint32_t record_size, uint16_t fragments, uint8_t flags) {
  Chunk& chunk = chunks_[slot];
  if (record_size != chunk.record_size || chunk.fragments > fragments ||
      (chunk.flags & ~flags) != 0)
    return Discard(commit, DiscardReason::kBadRecommit);
  if (chunk.fragments == fragments) {
    if (observer_ != nullptr) observer_->OnRewritten(Observed(chunk));
    return;
  }
  const Chunk* next = FindChunk(sequence, chunk.id + 1);
  if (next != nullptr && next->fragments_read > 0)
    return Discard(commit, DiscardReason::kBadRecommit);
  if (chunk.fragments_read > chunk.fragments) return;
  chunk.fragments = fragments;
  chunk.flags = flags;
  chunk.complete = commit.complete;
  sequence.read_out.OnChanged(chunk.id);
  sequence.looked_ahead.OnChanged(chunk.id);
  store_.Write(chunk, commit);
  ++stats_.chunks_rewritten;
  if (observer_ != nullptr) observer_->OnRewritten(Observed(chunk));
}

void V1Engine::NotePadding(uint64_t offset, uint64_t size) {
  stats_.padding_bytes_written += size;
  if (observer_ != nullptr) observer_->OnPadding(offset, static_cast<uint32_t>(size));
}

/// kNoChunk: the sequence has no such chunk in the buffer.
ChunkSlot V1Engine::FindChunkSlot(const Sequence& sequence, uint32_t id) const {
  const uint32_t at = sequence.chunks.LowerBound(id);
  return sequence.chunks.Holds(at, id) ? sequence.chunks[at].value : kNoChunk;
}

Chunk* V1Engine::FindChunk(const Sequence& sequence, uint32_t id) {
  const ChunkSlot slot = FindChunkSlot(sequence, id);
  return slot == kNoChunk ? nullptr : &chunks_[slot];
}

bool V1Engine::MakeSpace(uint32_t record_size, const ChunkCommit& commit, uint64_t& gap) {
  const uint64_t to_end = size_ - wr_;
  if (record_size > to_end) {
    if (!Clear(to_end, commit, gap)) return false;
    records_.PushBack({.offset = wr_, .size = static_cast<uint32_t>(to_end)});
    NotePadding(wr_, to_end);
    wr_ = 0;
    ++stats_.write_wrap_count;
    if (observer_ != nullptr) observer_->OnWrap();
  }
  return Clear(record_size, commit, gap);
}

/// Takes the chunks out whose records start in the `size` bytes at the cursor.
/// @param gap bytes between there and the next record
/// @return false, and nothing changed: discard mode, and something is unread
bool V1Engine::Clear(uint64_t size, const ChunkCommit& by, uint64_t& gap) {
  const uint64_t end = wr_ + size;
  gap = 0;
  const auto unread = [&](const Record& record) {
    if (record.is_padding()) return false;
    const Chunk& chunk = chunks_[record.chunk];
    return chunk.fragments_read < chunk.fragments;
  };
  // Before the buffer was full for the first time, nothing follows the cursor.
  const auto starts_before_end = [&](const Record& record, uint64_t at) {
    return record.offset == at && at < end;
  };
  if (discards_) {
    uint64_t at = wr_;
    for (RingRef i = records_.begin(); i != records_.end(); ++i) {
      if (!starts_before_end(records_[i], at)) break;
      if (unread(records_[i])) return false;
      at += records_[i].size;
    }
  }
  uint64_t at = wr_;
  while (!records_.empty() && starts_before_end(records_[records_.begin()], at)) {
    const Record record = records_[records_.begin()];
    records_.PopFront();
    at += record.size;
    if (record.is_padding()) {
      stats_.padding_bytes_cleared += record.size;
      continue;
    }
    if (unread(record)) {
      ++stats_.chunks_overwritten;
      stats_.bytes_overwritten += record.size;
    }
    Erase(record.chunk, by);
  }
  if (at > end) gap = at - end;
  return true;
}

void V1Engine::Erase(ChunkSlot slot, const ChunkCommit& by) {
  const Chunk& chunk = chunks_[slot];
  if (observer_ != nullptr) {
    const ObservedChunk observed = Observed(chunk);
    observer_->OnEvicting(observed, by);
    observer_->OnErased(observed);
  }
  Sequence& sequence = sequences_[chunk.sequence];
  sequence.chunks.Remove(sequence.chunks.LowerBound(chunk.id));
  sequence.read_out.OnErased(chunk.id);
  sequence.looked_ahead.OnChanged(chunk.id);
  if (sequence.marker == chunk.id) sequence.has_marker = false;
  free_chunks_.push_back(slot);
}

void V1Engine::Discard(const ChunkCommit& commit, DiscardReason reason) {
  if (observer_ != nullptr) observer_->OnDiscarded(commit, reason);
  if (reason == DiscardReason::kTooLarge || reason == DiscardReason::kBadRecommit)
    ++stats_.abi_violations;
  else
    ++stats_.chunks_discarded;
}

bool V1Engine::ApplyPatches(const ChunkPatches& patches) {
  const uint32_t sequence = slots_.Find(patches.sequence);
  const ChunkSlot slot = sequence == KeyIndex::kNone
                             ? kNoChunk
                             : FindChunkSlot(sequences_[sequence], Raw(patches.chunk));
  Chunk* const chunk = slot == kNoChunk ? nullptr : &chunks_[slot];
  if (chunk == nullptr) {
    ++stats_.patches_failed;
    if (observer_ != nullptr) observer_->OnPatchMissed(nullptr, patches, PatchMiss::kNoSuchChunk);
    return false;
  }
  for (const Patch& patch : patches.patches) {
    if (chunk->payload_size() < kPatchSize || patch.offset > chunk->payload_size() - kPatchSize) {
      ++stats_.patches_failed;
      if (observer_ != nullptr) {
        const ObservedChunk missed = Observed(*chunk);
        observer_->OnPatchMissed(&missed, patches, PatchMiss::kOutOfBounds);
      }
      return false;
    }
    store_.Apply(*chunk, patch);
  }
  stats_.patches_succeeded += patches.patches.size();
  if (!patches.more) chunk->flags &= static_cast<uint8_t>(~kNeedsPatching);
  if (observer_ != nullptr) observer_->OnPatched(Observed(*chunk), patches);
  return true;
}

Result<std::unique_ptr<Engine>> V1Engine::Clone() const {
  // Bytes never written need no copy: before the first wrap, all from the cursor on.
  const uint64_t used = stats_.write_wrap_count == 0 ? wr_ : size_;
  ZeroedStorage storage = AllocateCopy(store_.bytes(), used, size_);
  if (storage == nullptr)
    return Fail(ErrorCode::kLimit, fmt::format("no memory for a clone of {} bytes", size_));
  auto clone =
      std::make_unique<V1Engine>(EngineConfig{.size = size_}, PayloadStore(std::move(storage)));
  clone->discards_ = discards_;
  clone->sealed_ = sealed_;
  clone->wr_ = wr_;
  clone->sequences_ = sequences_;
  // A clone is read once. It starts without these caches, so tests see that they change nothing.
  for (size_t slot = 0; slot < sequences_.size(); ++slot) {
    clone->sequences_[slot].read_out.Forget();
    clone->sequences_[slot].looked_ahead.Forget();
  }
  clone->slots_ = slots_;
  clone->chunks_ = chunks_;
  clone->free_chunks_ = free_chunks_;
  clone->records_ = records_;
  clone->stats_ = stats_.WithoutReads();
  return clone;
}

void V1Engine::VisitWriterStats(const std::function<void(const WriterStats&)>& visit) const {
  for (size_t n = 0; n < histograms_.size(); ++n)
    visit({histograms_.At(n).key, &histograms_.At(n).value});
}

ObservedChunk V1Engine::Observed(const Chunk& chunk) const {
  return {.sequence = sequences_[chunk.sequence].key,
          .chunk = ChunkId{chunk.id},
          .offset = chunk.offset,
          .outer_size = chunk.record_size,
          .payload_size = chunk.payload_size(),
          .payload_avail = chunk.fragments_read < chunk.fragments
                               ? chunk.payload_size() - chunk.next_fragment
                               : 0,
          .flags = chunk.flags,
          .incomplete = !chunk.complete,
          .payload = store_.Payload(chunk)};
}

Result<uint64_t> V1Engine::VisitChunks(const ChunkVisitor& visit) const {
  // Chunks in front of the cursor come last in the ring.
  for (const bool after_cursor : {false, true}) {
    for (RingRef i = records_.begin(); i != records_.end(); ++i) {
      const Record& record = records_[i];
      if ((record.offset >= wr_) != after_cursor) continue;
      visit(record.is_padding() ? ObservedChunk{.offset = record.offset, .outer_size = record.size}
                                : Observed(chunks_[record.chunk]));
    }
  }
  return wr_;
}

std::string V1Engine::CheckInvariants() const {
  if (wr_ >= size_) return "the cursor is out of bounds";
  uint64_t chunks = 0, records = 0;
  for (size_t slot = 0; slot < sequences_.size(); ++slot) {
    const SortedList& list = sequences_[slot].chunks;
    for (uint32_t i = 0; i < list.size(); ++i) {
      if (i > 0 && list[i - 1].key >= list[i].key) return "a sequence's list is not sorted";
      if (list.IsRemoved(i)) continue;
      const Chunk& chunk = chunks_[list[i].value];
      ++chunks;
      if (chunk.id != list[i].key || chunk.sequence != slot) return "a list has another's chunk";
      if (chunk.next_fragment > chunk.payload_size()) return "a fragment is outside its record";
    }
  }
  // Buffer order starts at the cursor, or at 0 where nothing follows the cursor.
  uint64_t at = records_.empty() || records_[records_.begin()].offset == wr_ ? wr_ : 0;
  for (RingRef i = records_.begin(); i != records_.end(); ++i) {
    const Record& record = records_[i];
    if (record.offset != at) {
      // From the high-water mark, or from the buffer's end, back to its start.
      if (record.offset != 0 || at <= wr_) return "records do not tile the buffer";
      at = 0;
    }
    if (!record.is_padding()) {
      ++records;
      const Chunk& chunk = chunks_[record.chunk];
      if (chunk.offset != at || chunk.record_size != record.size)
        return "the index and a record differ";
    }
    at += record.size;
    if (at > size_) return "a record reaches beyond the buffer";
    if (at == size_) at = 0;
  }
  if (!records_.empty() && at != wr_ && !(wr_ == 0 && at == 0))
    return "records do not reach the cursor";
  return chunks == records ? "" : "records and index differ in number";
}

// Reading: sequence by sequence, each in chunk order from its oldest chunk.

void V1Engine::BeginRead() {
  if (order_.size() < sequences_.size()) {
    const auto by_key = [&](uint32_t a, uint32_t b) {
      return sequences_[a].key < sequences_[b].key;
    };
    const auto known = static_cast<std::ptrdiff_t>(order_.size());
    for (size_t slot = order_.size(); slot < sequences_.size(); ++slot)
      order_.push_back(static_cast<uint32_t>(slot));
    std::sort(order_.begin() + known, order_.end(), by_key);
    std::inplace_merge(order_.begin(), order_.begin() + known, order_.end(), by_key);
  }
  reading_ = true;
  at_sequence_ = 0;
  EnterSequence();
}

/// Moves to the oldest chunk of the cursor's sequence, or of the next sequence that has any.
void V1Engine::EnterSequence() {
  while (at_sequence_ != order_.size() && Current().chunks.empty()) ++at_sequence_;
  if (at_sequence_ == order_.size()) {
    reading_ = false;
    return;
  }
  Sequence& sequence = Current();
  // The first whose id is above the last written one's.
  at_chunk_ = sequence.last_written == UINT32_MAX
                  ? sequence.chunks.size()
                  : sequence.chunks.LowerBound(sequence.last_written + 1);
  at_chunk_ = sequence.chunks.NextItem(at_chunk_);
  if (at_chunk_ == sequence.chunks.size()) at_chunk_ = 0;
  dropped_ = 1;
  const uint32_t first = sequence.chunks[at_chunk_].key;
  if (!sequence.read_out.IsKnownFrom(first)) {
    sequence.read_out.Begin(first);
    sequence.has_marker = false;
    return;
  }
  // Straight to where the last visit ended, as if it had read everything up to there.
  if (sequence.has_marker) dropped_ = FindChunk(sequence, sequence.marker)->skipped_last ? 1 : 0;
  at_chunk_ = sequence.chunks.LowerBound(sequence.read_out.last());
}

void V1Engine::EndSequence() {
  ++at_sequence_;
  EnterSequence();
}

/// To the next chunk of the sequence. @return false: the sequence ends here for now
bool V1Engine::MoveOn(uint32_t& at) const {
  const Sequence& sequence = Current();
  const Chunk& chunk = ChunkAt(at);
  if (chunk.id == sequence.last_written || !chunk.complete) return false;
  const uint32_t id = chunk.id;
  at = sequence.chunks.NextItem(at + 1);
  if (at == sequence.chunks.size()) at = 0;
  return sequence.chunks[at].key == id + 1;
}

/// Moves on from the cursor's chunk, which is read out. @return as MoveOn
bool V1Engine::StepForward() {
  Sequence& sequence = Current();
  const Chunk& left = ChunkAt(at_chunk_);
  if (!MoveOn(at_chunk_)) return false;
  if (left.fragments_read > 0) {
    sequence.marker = left.id;
    sequence.has_marker = true;
  }
  sequence.read_out.ExtendTo(sequence.chunks[at_chunk_].key);
  // A packet passes over it, as it is empty; the next visit will end there.
  if ((left.flags & kNeedsPatching) != 0) sequence.read_out.Forget();
  return true;
}

SequenceKey V1Engine::CurrentKey() const { return Current().key; }

/// The next fragment that ReadFragment reads begins a packet.
void V1Engine::BeginPacket() {
  packet_.size = 0;
  slices_.clear();
}

void V1Engine::CountRead(const Chunk& chunk) {
  if (!chunk.complete) return;
  ++stats_.chunks_read;
  stats_.bytes_read += chunk.record_size;
}

void V1Engine::CountIfReadOut(const Chunk& chunk) {
  if (chunk.fragments_read != chunk.fragments || !chunk.complete) return;
  CountRead(chunk);
  histograms_[CurrentKey()].Add(chunk.next_fragment);
}

/// Reads the current chunk's next fragment; its bytes are added to packet_.
auto V1Engine::ReadFragment(Chunk& chunk) -> Found {
  Fragment fragment;
  const FragmentStatus status = store_.Read(chunk, fragment);
  if (status != FragmentStatus::kFragment) [[unlikely]] {
    ++(status == FragmentStatus::kWriterDrop ? stats_.trace_writer_packet_loss
                                             : stats_.abi_violations);
    chunk.fragments_read = chunk.fragments;
    chunk.next_fragment = 0;
    CountRead(chunk);
    return Found::kInvalid;
  }
  chunk.next_fragment = fragment.end;
  ++chunk.fragments_read;
  CountIfReadOut(chunk);
  chunk.skipped_last = false;
  if (fragment.size() == 0) return Found::kEmpty;
  packet_.size += fragment.size();
  slices_.push_back(store_.Slice(chunk, fragment));
  return Found::kPacket;
}

/// The cursor's chunk is about to be read: the sequence's next one will be soon.
void V1Engine::PrefetchNext() const {
  const Sequence& sequence = Current();
  const uint32_t at = sequence.chunks.NextItem(at_chunk_ + 1);
  if (at == sequence.chunks.size()) return;
  store_.Prefetch(ChunkAt(at));
}

/// Reports to the observer why the sequence ends after the chunk `at`, for now. Ending with the
/// chunk written last is the natural end, unless a packet continues after it.
void V1Engine::ReportStall(uint32_t at, bool packet_continues) const {
  const Chunk& chunk = ChunkAt(at);
  const bool is_last = chunk.id == Current().last_written;
  if (observer_ == nullptr || (is_last && !packet_continues)) return;
  observer_->OnStalled(
      CurrentKey(), ChunkId{chunk.id},
      chunk.complete || is_last ? StallReason::kMissingChunk : StallReason::kIncomplete);
}

void V1Engine::ReportAbandoned(uint32_t chunk, uint32_t offset, uint32_t cause) const {
  if (observer_ == nullptr) return;
  observer_->OnPacketAbandoned(CurrentKey(), {ChunkId{chunk}, offset, ChunkId{chunk}}, cause);
  observer_->OnLossBit(CurrentKey(), ChunkId{chunk}, cause);
}

/// Follows a packet that begins in the current chunk. If all its fragments are in the buffer, they
/// are consumed, valid or not, and the current chunk is the one that holds the last of them.
auto V1Engine::ReadAhead() -> Ahead {
  ChunkStretch& known = Current().looked_ahead;
  const uint32_t begin = ChunkAt(at_chunk_).id;
  if (!known.IsKnownFrom(begin)) known.Begin(begin);
  uint32_t last = Current().chunks.LowerBound(known.last());
  uint32_t expected = known.last();
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
    known.ExtendTo(chunk.id);
  }
  if (!found) {
    ++stats_.readaheads_failed;
    if (needs_patch && observer_ != nullptr)
      observer_->OnStalled(CurrentKey(), ChunkId{ChunkAt(last).id}, StallReason::kNeedsPatch);
    else
      ReportStall(reached, true);
    return Ahead::kFailed;
  }
  bool lost = false;
  while (true) {
    Chunk& chunk = ChunkAt(at_chunk_);
    const uint32_t offset = chunk.next_fragment;
    if (chunk.fragments > 0) {
      if (ReadFragment(chunk) == Found::kInvalid) {
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
    return Ahead::kLost;
  }
  ++stats_.readaheads_succeeded;
  return Ahead::kPacket;
}

const Packet* V1Engine::Return(uint32_t first_chunk, uint32_t first_offset, Identity identity,
                               uint32_t dropped) {
  packet_.sequence = CurrentKey();
  packet_.identity = identity;
  packet_.dropped = dropped;
  packet_.slices = slices_;
  packet_.place = {ChunkId{first_chunk}, first_offset, ChunkId{ChunkAt(at_chunk_).id}};
  if (observer_ != nullptr) observer_->OnPacketReturned(packet_);
  return &packet_;
}

const Packet* V1Engine::NextPacket() {
  uint32_t dropped = std::exchange(dropped_, 1);
  bool lost_ahead = false;  // a packet that ends in the current chunk was lost
  Identity identity;
  while (reading_) {
    Chunk& chunk = ChunkAt(at_chunk_);
    // After such a loss, what this call returns of the chunk has the lost packet's identity.
    if (!std::exchange(lost_ahead, false)) identity = chunk.identity;
    bool sequence_ends = (chunk.flags & kNeedsPatching) != 0;
    if (sequence_ends && observer_ != nullptr)
      observer_->OnStalled(CurrentKey(), ChunkId{chunk.id}, StallReason::kNeedsPatch);
    bool moved = false;
    if (!sequence_ends && chunk.fragments_read > 0) dropped = chunk.skipped_last ? 1 : 0;
    while (!sequence_ends && !moved && chunk.fragments_read < chunk.fragments) {
      BeginPacket();
      const uint32_t id = chunk.id;
      const uint32_t offset = chunk.next_fragment;
      if (chunk.fragments_read == 0) PrefetchNext();
      if (chunk.fragments_read == 0 && (chunk.flags & kFirstContinues) != 0) {
        ReportAbandoned(id, offset, kLossOrphanContinuation);
        ReadFragment(chunk);  // its beginning is not here: skipped permanently
        chunk.skipped_last = true;
        dropped = 1;
        continue;
      }
      if (chunk.fragments_read == chunk.fragments - 1 && (chunk.flags & kLastContinues) != 0) {
        switch (ReadAhead()) {
          case Ahead::kPacket:
            return Return(id, offset, identity, dropped);
          case Ahead::kLost:
            ReportAbandoned(id, offset, kLossChunkCorrupted);
            dropped = 1;
            moved = lost_ahead = true;  // continues in the chunk now reached
            break;
          case Ahead::kFailed:
            sequence_ends = true;
            break;
        }
        continue;
      }
      switch (ReadFragment(chunk)) {
        case Found::kPacket:
          return Return(id, offset, identity, dropped);
        case Found::kEmpty:
          break;
        case Found::kInvalid:
          ReportAbandoned(id, offset, kLossChunkCorrupted);
          chunk.skipped_last = true;
          dropped = 1;
          break;
      }
    }
    if (moved) continue;
    const uint32_t left = at_chunk_;
    if (!sequence_ends && !StepForward()) {
      ReportStall(left, false);
      sequence_ends = true;
    }
    if (sequence_ends) {
      EndSequence();
      dropped = std::exchange(dropped_, 1);
    }
  }
  return nullptr;
}

}  // namespace v1

Result<std::unique_ptr<Engine>> CreateV1Engine(const EngineConfig& config) {
  constexpr uint64_t kLimit = (uint64_t{1} << 32) - 16;
  if (config.size == 0 || config.size > kLimit || config.size % 16 != 0)
    return Fail(ErrorCode::kLimit,
                "a v1 buffer has at least 16 bytes, at most 4 GiB less 16, and a multiple of 16");
  ZeroedStorage storage = AllocateZeroed(config.size);
  if (storage == nullptr)
    return Fail(ErrorCode::kLimit, fmt::format("no memory for a buffer of {} bytes", config.size));
  return std::make_unique<v1::V1Engine>(config, v1::PayloadStore(std::move(storage)));
}

}  // namespace ringscope
