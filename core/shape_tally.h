#ifndef RINGSCOPE_CORE_SHAPE_TALLY_H_
#define RINGSCOPE_CORE_SHAPE_TALLY_H_

#include <cstdint>
#include <vector>

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
  };
  /// A chunk that was discarded, as far as it matters if it comes again, and for its neighbours.
  struct DiscardedChunk {
    ChunkId id{};
    uint32_t bytes = 0;          // whose packets are accounted for
    bool counted_front = false;  // its first piece counts as a packet of its own
    bool open = false;           // its last piece goes on in the next chunk
  };
  struct Discards {
    static constexpr size_t kMaxRecent = 16;

    PacketCount count;
    std::vector<DiscardedChunk> recent;  // in order of coming

    DiscardedChunk* Find(ChunkId id) {
      for (DiscardedChunk& chunk : recent)
        if (chunk.id == id) return &chunk;
      return nullptr;
    }
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
  Discards& Discarded(SequenceKey sequence) {
    uint32_t at = discarded_index_.Find(sequence);
    if (at == KeyIndex::kNone) {
      at = static_cast<uint32_t>(discarded_.size());
      discarded_index_.Insert(sequence, at);
      discarded_.emplace_back();
    }
    return discarded_[at];
  }

  void SetUsedBytes(uint64_t bytes) { used_bytes_ = bytes; }
  /// Bytes of the buffer, from its start, that were ever laid out.
  uint64_t used_bytes() const { return used_bytes_; }
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

  uint64_t used_bytes_ = 0;
  StableVector<Loss> overwritten_;  // by the sequence's slot
  KeyIndex discarded_index_;
  StableVector<Discards> discarded_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SHAPE_TALLY_H_
