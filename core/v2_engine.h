#ifndef RINGSCOPE_CORE_V2_ENGINE_H_
#define RINGSCOPE_CORE_V2_ENGINE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "core/chunk_ring.h"
#include "core/data_loss.h"
#include "core/engine.h"
#include "core/fragment.h"
#include "core/key_index.h"
#include "core/payload_store.h"
#include "core/shape_store.h"
#include "core/v2_rules.h"

namespace ringscope {

/// Makes a TraceBufferV2 that follows `rules`. Fails (kLimit) on sizes of 4 GiB and more, on 0, and
/// where the memory cannot be had. Memory is taken as the buffer fills.
Result<std::unique_ptr<Engine>> CreateV2Engine(const V2Rules& rules, const EngineConfig& config);

/// Makes one that keeps no payloads, only the shapes of chunks: commits carry a ChunkShape, packets
/// have sizes and places but no slices. Same counters, same packets, at a part of the time and of
/// the memory. Where only the bytes could tell how it goes on, failure() says so. It is not
/// observed and can not be cloned.
/// @param tally is told what is lost; must outlive the engine
Result<std::unique_ptr<Engine>> CreateV2ShapeEngine(const V2Rules& rules,
                                                    const EngineConfig& config, ShapeTally& tally);

namespace v2 {

/// Chunk ids that lie within this distance have a total order, whatever wraps.
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
  bool exists : 1 = false;
  bool has_last : 1 = false;
  bool last_incomplete : 1 = false;
  bool wide_ids : 1 = false;          // the list's ids do not lie within kHalfIds: no total order
  bool listed_empty : 1 = false;      // is in the list of empty sequences
  bool in_buffer_order : 1 = true;    // the list is
  bool stalled_in_chain : 1 = false;  // the last stall was in the middle of a packet
  bool stalled_at_end : 1 = false;    // there, for want of a chunk behind the last one
  bool stall_repeats : 1 = false;     // another pass would find the same, and change nothing
  bool settled : 1 = false;           // it repeats, and nothing changed that since
};
static_assert(sizeof(Sequence) == 64);

/// A sequence that stalled, and would in the next pass.
struct SettledSequence {
  ChunkRef first = 0;  // its first chunk in buffer order
  uint32_t slot = 0;
};

/// Everything that a clone copies.
struct State {
  V2Rules rules;
  uint64_t size = 0;
  bool discards = false;  // fill policy
  bool sealed = false;    // discard mode, and a write was discarded
  uint64_t wr = 0;        // write cursor; may equal `size`
  uint64_t used = 0;      // high-water mark of bytes ever laid out
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
  // The settled chunks at the beginning of buffer order: padding, and chunks of sequences that
  // stalled and did not change since. A read pass would find nothing there and only count the
  // read-aheads that fail, so it starts behind them.
  ChunkRef settled_end = 0;
  std::vector<SettledSequence> settled;  // in order of their first chunks
  uint32_t settled_failures = 0;         // of read-aheads
};

/// Takes the packets of one sequence in order, on behalf of a target chunk. The chunk it stands in
/// is always the first of the sequence's list.
struct Reader {
  uint32_t slot = 0;
  ChunkRef target = 0;
  uint32_t position = 0;  // in the first chunk's payload
  bool met_gap = false;
  bool moved = false;   // returned a packet, or took a chunk out
  bool at_end = false;  // a packet goes on behind the sequence's last chunk
};

enum class Mode : uint8_t { kRead, kErase };

/// TraceBufferV2. Three instantiations: the unobserved ones have no trace of the observer in them,
/// and one of them keeps shapes (ShapeStore) where the others keep payloads (PayloadStore).
template <bool kObserved, typename Store>
class V2Engine final : public Engine {
 public:
  V2Engine(State state, Store store, EngineObserver* observer)
      : s_(std::move(state)), store_(std::move(store)), observer_(observer) {}

  void Commit(const ChunkCommit& commit) override;
  bool ApplyPatches(const ChunkPatches& patches) override;
  void BeginRead() override;
  const Packet* NextPacket() override;
  Result<std::unique_ptr<Engine>> Clone() const override;
  const BufferStats& stats() const override { return s_.stats; }
  void VisitWriterStats(const std::function<void(const WriterStats&)>& visit) const override;
  std::string CheckInvariants() const override;

 private:
  /// A commit after a look at its fragments.
  struct Incoming {
    const ChunkCommit& commit;
    uint8_t flags = 0;  // to be stored
    uint32_t fragments = 0;
    uint32_t fragment_bytes = 0;
    uint32_t size = 0;      // payload bytes to reserve
    uint32_t consumed = 0;  // bytes that were read before, for a chunk that comes again
    bool all_whole = false;
    bool writer_drop = false;
    bool broken = false;  // fewer fragments than counted
  };
  enum class Recommit : uint8_t { kDone, kRelocate };

  static constexpr uint32_t kNotFound = UINT32_MAX;

  // Commits (v2_engine.cc).
  void Take(const ChunkCommit& commit);
  Incoming Tokenize(const ChunkCommit& commit) const;
  void ReadFragments(Incoming& in, uint32_t count) const;
  uint32_t FindOrCreateSequence(const ChunkCommit& commit, bool& is_new);
  bool Readmits(const Sequence& sequence, Incoming& in);
  uint32_t FindChunk(const Sequence& sequence, ChunkId id) const;
  uint32_t FindChunkAnywhere(const Sequence& sequence, ChunkId id) const;
  uint32_t InsertionPoint(const Sequence& sequence, ChunkId id) const;
  Recommit RecommitInPlace(ChunkRef ref, bool is_first, Incoming& in);
  bool MakeRoom(const Incoming& in);
  bool KeepsStall(Sequence& sequence, const Incoming& in, bool consecutive) const;
  void WriteChunk(uint32_t slot, const Incoming& in, bool sequence_is_new);
  void Wrap();
  void Discard(const ChunkCommit& commit, DiscardReason reason);
  // Clearing (v2_clear-inl.h).
  void Clear(uint64_t end, const ChunkCommit& by);
  void ClearChunk(ChunkRef ref, const ChunkCommit& by);
  void DropClearedChunks(uint64_t end);
  void Erase(uint32_t slot);
  void AddToEmpty(uint32_t slot);
  void RemoveFromEmpty(uint32_t slot);
  void ForgetEmptySequences();
  // Reading (v2_reader-inl.h).
  enum class Chain : uint8_t { kWhole, kLost, kUnfinished };
  const Packet* Advance();
  void Settle(ChunkRef ref);
  void Unsettle(const Sequence& sequence);
  Reader MakeReader(ChunkRef target);
  template <Mode kMode>
  bool NextOf(Reader& reader);
  template <Mode kMode>
  Chain Reassemble(Reader& reader, const Fragment& begin, uint32_t& loss_bit);
  template <Mode kMode>
  void Consume(StoredChunk& chunk, uint32_t bytes);
  void ReturnPacket(const Sequence& sequence, ChunkId first, uint32_t first_offset, ChunkId last);
  void AddLoss(uint32_t slot, uint32_t bit, ChunkId at);

  // What a buffer without payloads tells in their place (v2_tally-inl.h).
  void SetShape(uint32_t slot, ChunkRef first);
  void TallyCutOff(uint32_t slot, uint32_t first_piece);
  void TallyDiscarded(const ChunkCommit& commit);
  uint32_t BytesKnown(const ChunkCommit& commit);
  uint64_t BytesAwaiting(const ChunkCommit& commit);
  bool StoreFailed();

  ObservedChunk Observed(const StoredChunk& chunk) const;

  State s_;
  Store store_;
  EngineObserver* observer_;
  StableVector<WriterHistogram> histograms_;  // by sequence slot; a clone has none
  // The pass under way.
  ChunkRef read_ref_ = 0;
  bool reading_ = false;
  bool begun_ = false;  // packets were asked for
  bool has_reader_ = false;
  Reader reader_;
  Packet packet_;
  PacketShape shape_;  // of packet_, without payloads
  Bytes whole_slice_;
  std::vector<Bytes> slices_;
  std::vector<uint32_t> chain_;  // fragment sizes of a reassembly, by position in the chunk list
};

}  // namespace v2
}  // namespace ringscope

#endif  // RINGSCOPE_CORE_V2_ENGINE_H_
