#include "core/engine/v1_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/wire.h"
#include "core/perfetto/commit_request.h"

namespace ringscope {
namespace v1 {
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
  if (chunk.fragments == fragments) return;
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
  // What was never written needs no copy: before the first wrap, all from the cursor on.
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
  // What is in front of the cursor comes last in the ring.
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

}  // namespace v1
}  // namespace ringscope

// The other parts of this file, included nowhere else: a template's members are in one translation
// unit.
#include "core/engine/v1_reader_part.h"

namespace ringscope {

Result<std::unique_ptr<Engine>> CreateV1Engine(const EngineConfig& config) {
  constexpr uint64_t kLimit = (uint64_t{1} << 32) - 16;
  if (config.size == 0 || config.size > kLimit || config.size % 16 != 0)
    return Fail(ErrorCode::kLimit,
                fmt::format("a v1 buffer has 16 to {} bytes, a multiple of 16, not {}", kLimit,
                            config.size));
  ZeroedStorage storage = AllocateZeroed(config.size);
  if (storage == nullptr)
    return Fail(ErrorCode::kLimit, fmt::format("no memory for a buffer of {} bytes", config.size));
  return std::make_unique<v1::V1Engine>(config, v1::PayloadStore(std::move(storage)));
}

}  // namespace ringscope
