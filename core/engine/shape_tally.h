#ifndef RINGSCOPE_CORE_ENGINE_SHAPE_TALLY_H_
#define RINGSCOPE_CORE_ENGINE_SHAPE_TALLY_H_

#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/base/packet_count.h"
#include "core/base/sequence_map.h"

namespace ringscope {

/// Counts the packets that a buffer without payloads loses, by sequence. A packet is lost once,
/// where it begins; its later fragments only add their bytes.
class ShapeTally {
 public:
  struct Loss {
    PacketCount count;
    bool open = false;  // the packet lost last continues in the sequence's next chunk
  };
  /// A chunk that was discarded, as far as it matters for its re-commits and its neighbours.
  struct DiscardedChunk {
    ChunkId id{};
    uint32_t bytes = 0;          // whose packets are accounted for
    bool counted_front = false;  // its first fragment counts as a packet of its own
    bool open = false;           // its last fragment continues in the next chunk
  };
  struct Discards {
    static constexpr size_t kMaxRecent = 16;

    PacketCount count;
    std::vector<DiscardedChunk> recent;  // in the order of their commits

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
  /// A fragment of a packet whose beginning is lost was found and dropped.
  void AddOrphan(uint32_t slot, uint64_t bytes, bool is_end) {
    Loss& loss = Overwritten(slot);
    if (!loss.open) return;
    loss.count.bytes += bytes;
    loss.open = !is_end;
  }
  Discards& Discarded(SequenceKey sequence) { return discarded_[sequence]; }

  void SetUsedBytes(uint64_t bytes) { used_bytes_ = bytes; }
  /// Bytes of the buffer, from its start, that were ever written.
  uint64_t used_bytes() const { return used_bytes_; }
  /// @param slot of the sequence in the buffer
  PacketCount overwritten(uint32_t slot) const {
    return slot < overwritten_.size() ? overwritten_[slot].count : PacketCount();
  }
  /// Of all sequences.
  uint64_t overwritten_packets() const {
    uint64_t packets = 0;
    for (size_t slot = 0; slot < overwritten_.size(); ++slot)
      packets += overwritten_[slot].count.packets;
    return packets;
  }
  PacketCount discarded(SequenceKey sequence) const {
    const Discards* discards = discarded_.Find(sequence);
    return discards == nullptr ? PacketCount() : discards->count;
  }

 private:
  Loss& Overwritten(uint32_t slot) {
    while (overwritten_.size() <= slot) overwritten_.emplace_back();
    return overwritten_[slot];
  }

  uint64_t used_bytes_ = 0;
  StableVector<Loss> overwritten_;  // by the sequence's slot
  SequenceMap<Discards> discarded_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_ENGINE_SHAPE_TALLY_H_
