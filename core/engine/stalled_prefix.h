#ifndef RINGSCOPE_CORE_ENGINE_STALLED_PREFIX_H_
#define RINGSCOPE_CORE_ENGINE_STALLED_PREFIX_H_

#include <cstdint>
#include <vector>

#include "core/engine/chunk_ring.h"
#include "core/engine/engine.h"

namespace ringscope::v2 {

/// Where and why a read pass left a sequence.
struct Stall {
  ChunkId chunk{};
  StallReason reason{};
};

/// What a chunk that follows a sequence's last one does to a packet that waits for it.
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

}  // namespace ringscope::v2

#endif  // RINGSCOPE_CORE_ENGINE_STALLED_PREFIX_H_
