#ifndef RINGSCOPE_CORE_ENGINE_V2_ENGINE_H_
#define RINGSCOPE_CORE_ENGINE_V2_ENGINE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/sequence_map.h"
#include "core/engine/chunk_ring.h"
#include "core/engine/engine.h"
#include "core/engine/v2_rules.h"

namespace ringscope {

/// Makes a TraceBufferV2 that follows `rules`. Fails (kLimit) on sizes of 4 GiB and more, on 0, and
/// where the memory cannot be had. Memory is taken as the buffer fills.
/// @param skips_stalled see StalledPrefix; false for tests
Result<std::unique_ptr<Engine>> CreateV2Engine(const V2Rules& rules, const EngineConfig& config,
                                               bool skips_stalled = true);

/// Chunks that reads and evictions of a TraceBufferV2 looked at so far: the work done.
uint64_t LooksOf(const Engine& v2_engine);

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
  const Stall& StallOf(uint32_t slot) const { return last_[slot].stall; }

  /// A pass left the sequence.
  /// @param repeats another pass would find the same and change nothing
  void Note(uint32_t slot, Stall stall, bool repeats) {
    if (slot >= last_.size()) last_.resize(slot + 1);
    last_[slot] = {.stall = stall, .repeats = repeats};
  }
  /// The pass is done with a chunk: it belongs to the prefix if it follows that.
  /// @param stalled the pass left its sequence
  void Add(ChunkRef ref, const StoredChunk& chunk, bool stalled) {
    if (ref != end_ || !is_used_) return;
    if (!chunk.is_padding() && !Skips(chunk.sequence)) {
      if (!stalled || !last_[chunk.sequence].repeats) return;
      last_[chunk.sequence].is_skipped = true;
      entries_.push_back({.first = end_, .slot = chunk.sequence});
      failed_readaheads_ += FailsReadahead(chunk.sequence);
    }
    ++end_;
  }

  /// A chunk was added after the sequence's last one.
  void Append(uint32_t slot, ChunkId chunk, Continuation continuation) {
    // Other readers do not get so far.
    if (!Skips(slot) || StallOf(slot).reason != StallReason::kMissingChunk) return;
    if (continuation == Continuation::kOther) return Invalidate(slot);
    last_[slot].stall.chunk = chunk;
    if (continuation == Continuation::kNeedsPatch)
      last_[slot].stall.reason = StallReason::kNeedsPatch;
  }
  /// Something changes in the sequence: passes have to look at it again, and at what follows its
  /// first chunk.
  void Invalidate(uint32_t slot) {
    while (Skips(slot)) {
      const Entry removed = entries_.back();
      entries_.pop_back();
      end_ = removed.first;
      last_[removed.slot].is_skipped = false;
      failed_readaheads_ -= FailsReadahead(removed.slot);
    }
  }

 private:
  struct LastStall {
    Stall stall;
    bool repeats = false;
    bool is_skipped = false;
  };

  uint32_t FailsReadahead(uint32_t slot) const {
    return StallOf(slot).reason == StallReason::kIncomplete ? 0 : 1;
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

}  // namespace v2
}  // namespace ringscope

#endif  // RINGSCOPE_CORE_ENGINE_V2_ENGINE_H_
