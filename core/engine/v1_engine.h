#ifndef RINGSCOPE_CORE_ENGINE_V1_ENGINE_H_
#define RINGSCOPE_CORE_ENGINE_V1_ENGINE_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/key_index.h"
#include "core/base/sequence_map.h"
#include "core/base/sorted_list.h"
#include "core/base/wire.h"
#include "core/engine/chunk_ring.h"
#include "core/engine/engine.h"
#include "core/engine/zeroed_storage.h"
#include "core/perfetto/commit_request.h"
#include "core/perfetto/fragment.h"

namespace ringscope {

/// Makes a TraceBuffer V1, the buffer of every Perfetto release. Fails (kLimit) on 0, on sizes that
/// are no multiple of 16 bytes, on 4 GiB and more, and where the memory cannot be had.
Result<std::unique_ptr<Engine>> CreateV1Engine(const EngineConfig& config);

namespace v1 {

/// What the index knows of a chunk in the buffer.
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
  // So that a visit does not walk over everything that earlier ones have read:
  ChunkStretch read_out;  // from where a visit begins; all read out but for the last
  uint32_t marker = 0;    // the chunk in it that was read from last, before its last one
  bool has_marker = false;
  ChunkStretch
      looked_ahead;  // a packet that begins in the first, and continues through all of them
};

/// What is in the buffer at one place: a chunk's record or padding.
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

  // Writing (v1_engine.cc).
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
  // Reading (v1_reader_part.h).
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

}  // namespace v1
}  // namespace ringscope

#endif  // RINGSCOPE_CORE_ENGINE_V1_ENGINE_H_
