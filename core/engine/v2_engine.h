#ifndef RINGSCOPE_CORE_ENGINE_V2_ENGINE_H_
#define RINGSCOPE_CORE_ENGINE_V2_ENGINE_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/sequence_map.h"
#include "core/engine/chunk_ring.h"
#include "core/engine/engine.h"
#include "core/engine/v2_rules.h"
#include "core/engine/zeroed_storage.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/fragment.h"

namespace ringscope {

/// Makes a TraceBufferV2 that follows `rules`. Fails (kLimit) on sizes of 4 GiB and more, on 0, and
/// where the memory cannot be had. Memory is taken as the buffer fills.
/// @param skips_stalled see StalledPrefix; false for tests
Result<std::unique_ptr<Engine>> CreateV2Engine(const V2Rules& rules, const EngineConfig& config,
                                               bool skips_stalled = true);

namespace v2 {

/// Where and why a read pass left a sequence.
struct Stall {
  ChunkId chunk{};
  StallReason reason{};
};

/// Effect of a chunk that follows a sequence's last one on a packet that waits for it.
enum class Continuation : uint8_t {
  kContinues,   // the packet goes through it, and waits for the next chunk
  kNeedsPatch,  // the packet waits for its patches
  kOther,       // the packet may be decided
};

/// The chunks at the beginning of buffer order in which a read pass would find nothing new:
/// padding, and chunks of sequences that stalled and did not change since. A pass skips them, which
/// makes idle passes fast; without it, passes find the same.
class StalledPrefix {
 public:
  /// A sequence that stalls in the prefix.
  struct Entry {
    ChunkRef first = 0;  // its first chunk in buffer order
    uint32_t slot = 0;
  };

  explicit StalledPrefix(bool is_used = true) : is_used_(is_used) {}

  /// Returns the first chunk after the prefix, or that of the ring if the prefix left it.
  ChunkRef BeginPass(const ChunkRing& chunks) {
    if (end_ - chunks.begin() > chunks.size()) end_ = chunks.begin();
    return end_;
  }
  /// Sequences in the prefix, in order of their first chunks.
  const std::vector<Entry>& entries() const { return entries_; }
  uint32_t failed_readaheads() const { return failed_readaheads_; }

  bool Skips(uint32_t slot) const { return slot < last_.size() && last_[slot].is_skipped; }
  /// The last stall of a sequence, as a pass would find it now.
  Stall StallOf(uint32_t slot) const { return {last_[slot].chunk, last_[slot].reason}; }

  /// A pass left the sequence.
  /// @param repeats another pass would find the same and change nothing
  void Note(uint32_t slot, Stall stall, bool repeats) {
    if (slot >= last_.size()) last_.resize(slot + 1);
    last_[slot] = {.chunk = stall.chunk, .reason = stall.reason, .repeats = repeats};
  }
  bool EndsAt(ChunkRef ref) const { return ref == end_ && is_used_; }
  /// The pass is done with the chunk at the prefix' end, which is padding.
  void AddPadding() { ++end_; }
  /// The pass is done with the chunk at the prefix' end.
  /// @param stalled the pass left its sequence
  void Add(uint32_t slot, bool stalled) {
    if (!Skips(slot)) {
      if (!stalled || !last_[slot].repeats) return;
      last_[slot].is_skipped = true;
      entries_.push_back({.first = end_, .slot = slot});
      failed_readaheads_ += FailsReadahead(slot);
    }
    ++end_;
  }

  /// A chunk was added after the sequence's last one.
  void Append(uint32_t slot, ChunkId chunk, Continuation continuation) {
    // Other readers do not get so far.
    if (!Skips(slot) || last_[slot].reason != StallReason::kMissingChunk) return;
    if (continuation == Continuation::kOther) return Invalidate(slot);
    last_[slot].chunk = chunk;
    if (continuation == Continuation::kNeedsPatch) last_[slot].reason = StallReason::kNeedsPatch;
  }
  /// Something changes in the sequence: passes have to look at it again, and at what follows its
  /// first chunk.
  void Invalidate(uint32_t slot) {
    if (Skips(slot)) Shorten(slot);
  }

 private:
  struct LastStall {
    ChunkId chunk{};
    StallReason reason{};
    bool repeats = false;
    bool is_skipped = false;
  };

  void Shorten(uint32_t slot) {
    uint32_t removed;
    do {
      removed = entries_.back().slot;
      end_ = entries_.back().first;
      entries_.pop_back();
      last_[removed].is_skipped = false;
      failed_readaheads_ -= FailsReadahead(removed);
    } while (removed != slot);
  }
  uint32_t FailsReadahead(uint32_t slot) const {
    return last_[slot].reason == StallReason::kIncomplete ? 0 : 1;
  }

  bool is_used_;
  ChunkRef end_ = 0;
  std::vector<Entry> entries_;
  uint32_t failed_readaheads_ = 0;
  std::vector<LastStall> last_;  // by sequence slot
};

/// Chunk ids within this distance have a total order, also where they wrap.
inline constexpr uint32_t kHalfIds = uint32_t{1} << 30;

/// A sequence as the buffer knows it, in one cache line. Slots are never given back: a sequence
/// that the buffer forgets is only reset, as its writer histogram stays.
struct alignas(64) Sequence {
  static constexpr uint32_t kNone = UINT32_MAX;

  ChunkList chunks;
  SequenceKey key;
  Identity identity;             // as of the commit that made it known
  uint32_t skipped_in_pass = 0;  // number of the read pass; 0: none
  ChunkId last_id{};             // the last consumed chunk, if has_last
  uint32_t older_empty = kNone;  // neighbours in the list of empty sequences
  uint32_t newer_empty = kNone;
  uint16_t last_payload_size = 0;
  uint16_t loss_bits = 0;  // pending
  bool exists = false;
  bool has_last = false;
  bool last_incomplete = false;
  bool wide_ids = false;      // the list's ids are not within kHalfIds: no total order
  bool listed_empty = false;  // is in the list of empty sequences
};
static_assert(sizeof(Sequence) == 64);

/// Where a buffer keeps its chunks' payloads.
class PayloadStore {
 public:
  explicit PayloadStore(ZeroedStorage storage) : storage_(std::move(storage)) {}

  /// Takes the first `bytes` of the commit's payload as the chunk's.
  void Write(const StoredChunk& chunk, const ChunkCommit& commit, uint32_t bytes) {
    if (bytes > 0) std::memcpy(At(chunk), commit.payload.data(), bytes);
  }
  /// GCC would inline it or not by how much else there is in the same unit.
  [[gnu::always_inline]] FragmentStatus Read(const StoredChunk& chunk, uint32_t offset,
                                             Fragment& fragment) {
    return ReadFragment(At(chunk), chunk.payload_size, offset, fragment);
  }
  /// The chunk will be read soon: all of it, if it has whole packets alone; of other chunks, the
  /// first fragment.
  [[gnu::always_inline]] void Prefetch(const StoredChunk& chunk) const {
    if (!chunk.is_padding()) PrefetchPayload(At(chunk), chunk.all_whole ? chunk.payload_size : 1);
  }
  [[gnu::always_inline]] void PrefetchWhole(const StoredChunk& chunk) const {
    PrefetchPayload(At(chunk), chunk.payload_size);
  }
  [[gnu::always_inline]] void PrefetchStart(const StoredChunk& chunk) const {
    PrefetchPayload(At(chunk), 1);
  }
  /// The patch is within the payload.
  void Apply(const StoredChunk& chunk, const Patch& patch) {
    std::memcpy(At(chunk) + patch.offset, patch.data, kPatchSize);
  }
  Bytes Slice(const StoredChunk& chunk, const Fragment& fragment) const {
    return {At(chunk) + fragment.body, fragment.size()};
  }
  Bytes Payload(const StoredChunk& chunk) const { return {At(chunk), chunk.payload_size}; }
  const uint8_t* bytes() const { return storage_.get(); }

 private:
  const uint8_t* At(const StoredChunk& chunk) const {
    return storage_.get() + chunk.offset() + kStoredHeaderSize;
  }
  uint8_t* At(const StoredChunk& chunk) {
    return storage_.get() + chunk.offset() + kStoredHeaderSize;
  }

  ZeroedStorage storage_;
};

/// Everything that a clone copies.
struct State {
  V2Rules rules;
  uint64_t size = 0;
  bool discards = false;  // fill policy
  bool sealed = false;    // discard mode, and a write was discarded
  uint64_t wr = 0;        // write cursor; may equal `size`
  uint64_t used = 0;      // high-water mark of bytes ever written
  ChunkRing chunks;
  StableVector<Sequence> sequences;
  KeyIndex slots;  // by sequence key
  BufferStats stats;
  // Sequences that became empty, oldest first, and the threshold's counter, which is not their
  // number: it moves only as the released buffers' does.
  uint32_t oldest_empty = Sequence::kNone;
  uint32_t newest_empty = Sequence::kNone;
  uint32_t empty_listed = 0;
  uint32_t empty_counter = 0;
  uint32_t pass = 0;  // number of the read pass; never 0 once there was one
  StalledPrefix stalled;
};

/// Takes the packets of one sequence in order, up to a target chunk. Its current chunk is always
/// the first of the sequence's list.
struct Reader {
  uint32_t slot = 0;
  ChunkRef target = 0;
  uint32_t position = 0;  // in the first chunk's payload
  bool met_gap = false;
  bool moved = false;  // returned a packet, or took a chunk out
};

enum class Mode : uint8_t { kRead, kErase };

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

  void Commit(const ChunkCommit& commit) override;
  bool ApplyPatches(const ChunkPatches& patches) override;
  void BeginRead() override;
  const Packet* NextPacket() override;
  Result<std::unique_ptr<Engine>> Clone() const override;
  [[gnu::cold]] Result<std::unique_ptr<Engine>> ObserveBy(EngineObserver* observer) override;
  const BufferStats& stats() const override { return s_.stats; }
  void VisitWriterStats(const std::function<void(const WriterStats&)>& visit) const override;
  Result<uint64_t> VisitChunks(const ChunkVisitor& visit) const override;
  std::string CheckInvariants() const override;
  /// Chunks that reads and evictions looked at so far: the work done.
  uint64_t looks() const { return looks_; }

 private:
  /// A commit after a look at its fragments.
  struct Incoming {
    const ChunkCommit& commit;
    uint8_t flags = 0;  // to be stored
    uint32_t fragments = 0;
    uint32_t fragment_bytes = 0;
    uint32_t size = 0;      // payload bytes to reserve
    uint32_t consumed = 0;  // bytes that were read before, for a chunk that is re-committed
    bool all_whole = false;
    bool writer_drop = false;
    bool broken = false;  // fewer fragments than counted
  };
  enum class Recommit : uint8_t { kDone, kRelocate };

  static constexpr uint32_t kNotFound = UINT32_MAX;

  // Commits.
  Incoming Tokenize(const ChunkCommit& commit) const;
  void ReadFragments(Incoming& in, uint32_t count) const;
  uint32_t FindOrCreateSequence(const ChunkCommit& commit, bool& is_new);
  bool Readmits(const Sequence& sequence, Incoming& in);
  uint32_t FindChunk(const Sequence& sequence, ChunkId id) const;
  uint32_t FindChunkAnywhere(const Sequence& sequence, ChunkId id) const;
  uint32_t InsertionPoint(const Sequence& sequence, ChunkId id) const;
  Recommit RecommitInPlace(ChunkRef ref, bool is_first, Incoming& in);
  bool MakeSpace(const Incoming& in);
  Continuation ContinuationOf(const Incoming& in) const;
  void WriteChunk(uint32_t slot, const Incoming& in, bool sequence_is_new);
  void Wrap();
  void Discard(const ChunkCommit& commit, DiscardReason reason);
  // Clearing.
  void Clear(uint64_t end, const ChunkCommit& by);
  void ClearChunk(ChunkRef ref, const ChunkCommit& by);
  void DropClearedChunks(uint64_t end);
  void Erase(uint32_t slot);
  void AddToEmpty(uint32_t slot);
  void RemoveFromEmpty(uint32_t slot);
  void ForgetEmptySequences();
  // Reading.
  enum class Chain : uint8_t { kWhole, kLost, kUnfinished };
  const Packet* Advance();
  [[gnu::always_inline]] inline bool NextOfRun();
  [[gnu::always_inline]] inline void SetWhole(const StoredChunk& chunk, const Fragment& fragment);
  void ReportStall(uint32_t slot, Stall stall);
  void LeaveAt(Stall stall, const Reader& reader);
  void BeginAfterStalled();
  void AddToStalled(ChunkRef ref);
  Reader MakeReader(ChunkRef target);
  template <Mode kMode>
  bool NextOf(Reader& reader);
  template <Mode kMode>
  Chain Reassemble(Reader& reader, const Fragment& begin, uint32_t& loss_bit, Stall& stall);
  template <Mode kMode>
  void Consume(StoredChunk& chunk, uint32_t bytes);
  void ReturnPacket(const Sequence& sequence, ChunkId first, uint32_t first_offset, ChunkId last);
  void AddLoss(uint32_t slot, uint32_t bit, ChunkId at);

  [[gnu::always_inline]] ObservedChunk Observed(const StoredChunk& chunk) const;
  /// Returns true if each packet that is overwritten is reported.
  bool ReportsOverwritten() const {
    if constexpr (kObserved) return observer_->wants_overwritten_packets();
    return false;
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
}  // namespace ringscope

#endif  // RINGSCOPE_CORE_ENGINE_V2_ENGINE_H_
