#ifndef RINGSCOPE_CORE_SHAPE_TALLY_H_
#define RINGSCOPE_CORE_SHAPE_TALLY_H_

#include <cstdint>

#include "core/ids.h"
#include "core/key_index.h"
#include "core/packet_count.h"

namespace ringscope {

/// Counts the packets that a buffer without payloads loses, by sequence. A packet is lost once,
/// where it begins; pieces of it that come later only add their bytes.
class ShapeTally {
 public:
  struct Loss {
    PacketCount count;
    bool open = false;  // the packet lost last goes on in the sequence's next chunk
    // Of discarded ones: the chunk discarded last, and how many of its bytes were counted.
    bool has_newest = false;
    ChunkId newest{};
    uint32_t newest_bytes = 0;
  };

  void AddOverwritten(uint32_t slot, PacketCount lost, bool open) {
    Loss& loss = Overwritten(slot);
    loss.count += lost;
    loss.open = open;
  }
  /// A piece whose packet's beginning is gone was met and dropped.
  void AddOrphan(uint32_t slot, uint64_t bytes, bool is_end) {
    Loss& loss = Overwritten(slot);
    if (!loss.open) return;
    loss.count.bytes += bytes;
    loss.open = !is_end;
  }
  Loss& Discarded(SequenceKey sequence) {
    uint32_t at = discarded_index_.Find(sequence);
    if (at == KeyIndex::kNone) {
      at = static_cast<uint32_t>(discarded_.size());
      discarded_index_.Insert(sequence, at);
      discarded_.emplace_back();
    }
    return discarded_[at];
  }

  /// @param slot of the sequence in the buffer
  PacketCount overwritten(uint32_t slot) const {
    return slot < overwritten_.size() ? overwritten_[slot].count : PacketCount();
  }
  PacketCount discarded(SequenceKey sequence) const {
    const uint32_t at = discarded_index_.Find(sequence);
    return at == KeyIndex::kNone ? PacketCount() : discarded_[at].count;
  }

 private:
  Loss& Overwritten(uint32_t slot) {
    while (overwritten_.size() <= slot) overwritten_.emplace_back();
    return overwritten_[slot];
  }

  StableVector<Loss> overwritten_;  // by the sequence's slot
  KeyIndex discarded_index_;
  StableVector<Loss> discarded_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SHAPE_TALLY_H_
