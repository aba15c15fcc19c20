#include "core/v1_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/wire.h"

namespace ringscope {
namespace v1 {
namespace {

constexpr uint32_t kHeaderSize = 16;
constexpr uint32_t kMaxRecord = 65535;

/// What a record takes: header, payload, and zeros up to the next multiple of 16.
constexpr uint64_t RecordSize(uint64_t payload) { return (kHeaderSize + payload + 15) & ~15ull; }

// Layout of a record's header in the buffer, as far as the index does not have it; nobody sees it.
enum HeaderAt : size_t {
  kChunkAt = 0,
  kProducerAt = 4,
  kWriterAt = 6,
  kSizeAt = 8,
  kPaddingAt = 12
};

template <typename T>
void Store(uint8_t* at, T value) {
  std::memcpy(at, &value, sizeof(value));
}
template <typename T>
T Load(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

}  // namespace

uint32_t Chunk::payload_size() const { return record_size - kHeaderSize; }

V1Engine::V1Engine(const EngineConfig& config, ZeroedStorage storage)
    : size_(config.size),
      discards_(config.policy == FillPolicy::kDiscard),
      storage_(std::move(storage)),
      observer_(config.observer),
      at_sequence_(sequences_.end()) {
  stats_.buffer_size = size_;
}

void V1Engine::Commit(const ChunkCommit& commit) {
  at_sequence_ = sequences_.end();
  const uint64_t record_size = RecordSize(commit.payload.size());
  if (record_size > std::min<uint64_t>(size_, kMaxRecord))
    return Discard(commit, DiscardReason::kTooLarge);
  const auto size = static_cast<uint32_t>(record_size);
  uint16_t fragments = commit.fragments;
  uint8_t flags = commit.flags & kMaxChunkFlags;
  if (!commit.complete && fragments > 0) {
    // The last fragment may still be being written.
    --fragments;
    flags &= static_cast<uint8_t>(~(kLastContinues | kNeedsPatching));
  }
  const uint32_t id = Raw(commit.chunk);
  Sequence* known = nullptr;
  if (Chunk* chunk = FindChunk(commit.sequence, id, &known))
    return Recommit(*known, *chunk, commit, size, fragments, flags);
  if (sealed_) return Discard(commit, DiscardReason::kSealed);

  uint64_t gap = 0;
  if (!MakeRoom(size, commit, gap)) {
    sealed_ = true;
    return Discard(commit, DiscardReason::kFull);
  }
  WriteRecord(commit, wr_, size);
  Sequence& sequence = sequences_[commit.sequence.Packed()];
  Chunk& chunk = sequence.chunks[id];
  chunk = {.offset = wr_,
           .identity = commit.identity,
           .record_size = size,
           .fragments = fragments,
           .flags = flags,
           .complete = commit.complete};
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
  if (gap > 0) WritePadding(gap);  // the cursor stays in front of it
  if (observer_ != nullptr) observer_->OnCommitted(Observed(commit.sequence, id, chunk));
}

void V1Engine::Recommit(Sequence& sequence, Chunk& chunk, const ChunkCommit& commit,
                        uint32_t record_size, uint16_t fragments, uint8_t flags) {
  if (record_size != chunk.record_size || chunk.fragments > fragments ||
      (chunk.flags & ~flags) != 0)
    return Discard(commit, DiscardReason::kBadRecommit);
  if (chunk.fragments == fragments) return;
  const uint32_t id = Raw(commit.chunk);
  const auto next = sequence.chunks.find(id + 1);
  if (next != sequence.chunks.end() && next->second.fragments_read > 0)
    return Discard(commit, DiscardReason::kBadRecommit);
  if (chunk.fragments_read > chunk.fragments) return;
  chunk.fragments = fragments;
  chunk.flags = flags;
  chunk.complete = commit.complete;
  WriteRecord(commit, chunk.offset, record_size);
  ++stats_.chunks_rewritten;
  if (observer_ != nullptr) observer_->OnRewritten(Observed(commit.sequence, id, chunk));
}

void V1Engine::WriteRecord(const ChunkCommit& commit, uint64_t offset, uint32_t size) {
  uint8_t* record = storage_.get() + offset;
  Store(record + kChunkAt, Raw(commit.chunk));
  Store(record + kProducerAt, Raw(commit.sequence.producer));
  Store(record + kWriterAt, Raw(commit.sequence.writer));
  Store(record + kSizeAt, size);
  Store(record + kPaddingAt, uint32_t{0});
  const size_t payload = commit.payload.size();
  if (payload > 0) std::memcpy(record + kHeaderSize, commit.payload.data(), payload);
  std::memset(record + kHeaderSize + payload, 0, size - kHeaderSize - payload);
}

void V1Engine::WritePadding(uint64_t size) {
  uint8_t* record = storage_.get() + wr_;
  std::memset(record, 0, kHeaderSize);
  Store(record + kSizeAt, static_cast<uint32_t>(size));
  Store(record + kPaddingAt, uint32_t{1});
  stats_.padding_bytes_written += size;
  if (observer_ != nullptr) observer_->OnPadding(wr_, static_cast<uint32_t>(size));
}

Record V1Engine::RecordAt(uint64_t offset) const {
  const uint8_t* record = storage_.get() + offset;
  return {.chunk = Load<uint32_t>(record + kChunkAt),
          .producer = Load<uint16_t>(record + kProducerAt),
          .writer = Load<uint16_t>(record + kWriterAt),
          .size = Load<uint32_t>(record + kSizeAt),
          .is_padding = Load<uint32_t>(record + kPaddingAt) != 0};
}

Chunk* V1Engine::FindChunk(SequenceKey key, uint32_t id, Sequence** sequence) {
  const auto found = sequences_.find(key.Packed());
  if (found == sequences_.end()) return nullptr;
  if (sequence != nullptr) *sequence = &found->second;
  const auto chunk = found->second.chunks.find(id);
  return chunk == found->second.chunks.end() ? nullptr : &chunk->second;
}

bool V1Engine::MakeRoom(uint32_t record_size, const ChunkCommit& commit, uint64_t& gap) {
  const uint64_t to_end = size_ - wr_;
  if (record_size > to_end) {
    if (!Clear(to_end, commit, gap)) return false;
    WritePadding(to_end);
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
  BufferStats stats = stats_;
  std::vector<Record> met;
  uint64_t at = wr_;
  while (at < end) {
    const Record record = RecordAt(at);
    if (record.size == 0) {  // never written: nothing lies behind it either
      at = end;
      break;
    }
    at += record.size;
    if (record.is_padding) {
      stats.padding_bytes_cleared += record.size;
      continue;
    }
    met.push_back(record);
    const Chunk* chunk =
        FindChunk({ProducerId{record.producer}, WriterId{record.writer}}, record.chunk);
    if (chunk == nullptr || chunk->fragments_read >= chunk->fragments) continue;
    if (discards_) return false;
    ++stats.chunks_overwritten;
    stats.bytes_overwritten += record.size;
  }
  gap = at - end;
  stats_ = stats;
  for (const Record& record : met) {
    const SequenceKey key{ProducerId{record.producer}, WriterId{record.writer}};
    Sequence* sequence = nullptr;
    const Chunk* chunk = FindChunk(key, record.chunk, &sequence);
    if (chunk == nullptr) continue;
    if (observer_ != nullptr) {
      const ObservedChunk observed = Observed(key, record.chunk, *chunk);
      observer_->OnEvicting(observed, by);
      observer_->OnErased(observed);
    }
    sequence->chunks.erase(record.chunk);
  }
  return true;
}

void V1Engine::Discard(const ChunkCommit& commit, DiscardReason reason) {
  if (observer_ != nullptr) observer_->OnDiscarded(commit, reason);
  if (reason == DiscardReason::kTooLarge || reason == DiscardReason::kBadRecommit)
    ++stats_.abi_violations;
  else
    ++stats_.chunks_discarded;
}

bool V1Engine::ApplyPatches(const ChunkPatches& patches) {
  Chunk* chunk = FindChunk(patches.sequence, Raw(patches.chunk));
  if (chunk == nullptr) {
    ++stats_.patches_failed;
    if (observer_ != nullptr) observer_->OnPatchMissed(nullptr, patches, PatchMiss::kNoSuchChunk);
    return false;
  }
  const auto observed = [&] { return Observed(patches.sequence, Raw(patches.chunk), *chunk); };
  for (const Patch& patch : patches.patches) {
    if (chunk->payload_size() < kPatchSize || patch.offset > chunk->payload_size() - kPatchSize) {
      ++stats_.patches_failed;
      if (observer_ != nullptr) {
        const ObservedChunk missed = observed();
        observer_->OnPatchMissed(&missed, patches, PatchMiss::kOutOfBounds);
      }
      return false;
    }
    std::memcpy(storage_.get() + chunk->offset + kHeaderSize + patch.offset, patch.data,
                kPatchSize);
  }
  stats_.patches_succeeded += patches.patches.size();
  if (!patches.more) chunk->flags &= static_cast<uint8_t>(~kNeedsPatching);
  if (observer_ != nullptr) observer_->OnPatched(observed(), patches);
  return true;
}

Result<std::unique_ptr<Engine>> V1Engine::Clone() const {
  ZeroedStorage storage = AllocateZeroed(size_);
  if (storage == nullptr)
    return Fail(ErrorCode::kLimit, fmt::format("no memory for a clone of {} bytes", size_));
  std::memcpy(storage.get(), storage_.get(), size_);
  auto clone = std::make_unique<V1Engine>(EngineConfig{.size = size_}, std::move(storage));
  clone->discards_ = discards_;
  clone->sealed_ = sealed_;
  clone->wr_ = wr_;
  clone->sequences_ = sequences_;
  clone->at_sequence_ = clone->sequences_.end();
  clone->stats_ = stats_;
  clone->stats_.bytes_read = 0;
  clone->stats_.chunks_read = 0;
  clone->stats_.readaheads_failed = 0;
  clone->stats_.readaheads_succeeded = 0;
  return clone;
}

void V1Engine::VisitWriterStats(const std::function<void(const WriterStats&)>& visit) const {
  for (size_t slot = 0; slot < histograms_.size(); ++slot)
    visit({histogram_keys_[slot], &histograms_[slot]});
}

ObservedChunk V1Engine::Observed(SequenceKey key, uint32_t id, const Chunk& chunk) const {
  return {.sequence = key,
          .chunk = ChunkId{id},
          .offset = chunk.offset,
          .outer_size = chunk.record_size,
          .payload_size = chunk.payload_size(),
          .payload_avail = chunk.fragments_read < chunk.fragments
                               ? chunk.payload_size() - chunk.next_fragment
                               : 0,
          .flags = chunk.flags,
          .incomplete = !chunk.complete,
          .payload = {storage_.get() + chunk.offset + kHeaderSize, chunk.payload_size()}};
}

std::string V1Engine::CheckInvariants() const {
  if (wr_ >= size_) return "the cursor is out of bounds";
  uint64_t chunks = 0, records = 0;
  for (const auto& [key, sequence] : sequences_) {
    for (const auto& [id, chunk] : sequence.chunks) {
      ++chunks;
      const Record record = RecordAt(chunk.offset);
      if (record.is_padding || record.chunk != id || record.size != chunk.record_size)
        return "the index and a record differ";
      if (chunk.next_fragment > chunk.payload_size()) return "a fragment lies outside its record";
    }
  }
  for (const auto& [start, end] : {std::pair{uint64_t{0}, wr_}, std::pair{wr_, size_}}) {
    uint64_t at = start;
    while (at < end) {
      const Record record = RecordAt(at);
      if (record.size == 0) break;
      records += record.is_padding ? 0 : 1;
      at += record.size;
    }
    if (at > end) return "records do not tile the buffer";
  }
  return chunks == records ? "" : "records and index differ in number";
}

}  // namespace v1

Result<std::unique_ptr<Engine>> CreateV1Engine(const EngineConfig& config) {
  constexpr uint64_t kLimit = (uint64_t{1} << 32) - 16;
  if (config.size == 0 || config.size > kLimit || config.size % 16 != 0)
    return Fail(ErrorCode::kLimit,
                fmt::format("a v1 buffer has 16 to {} bytes, a multiple of 16, not {}", kLimit,
                            config.size));
  ZeroedStorage storage = AllocateZeroed(config.size);
  if (storage == nullptr)
    return Fail(ErrorCode::kLimit, fmt::format("no memory for a buffer of {} bytes", config.size));
  return std::make_unique<v1::V1Engine>(config, std::move(storage));
}

}  // namespace ringscope
