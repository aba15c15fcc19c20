#ifndef RINGSCOPE_CORE_ENGINE_SHAPE_TALLY_H_
#define RINGSCOPE_CORE_ENGINE_SHAPE_TALLY_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/base/packet_count.h"
#include "core/base/sequence_map.h"
#include "core/engine/chunk_shape.h"
#include "core/perfetto/chunk.h"

namespace ringscope {

/// Counts the packets that a buffer without payloads loses, by sequence. A packet is lost once,
/// where it begins; its later fragments only add their bytes.
class ShapeTally {
 public:
  /// A chunk that was discarded, as far as it matters for its re-commits and its neighbours.
  struct DiscardedChunk {
    ChunkId id{};
    uint32_t bytes = 0;          // whose packets are accounted for
    bool counted_front = false;  // its first fragment counts as a packet of its own
    bool open = false;           // its last fragment continues in the next chunk
    bool open_empty = false;     // and that packet has no bytes so far: it does not count yet
    /// Its first fragment continues a packet that no chunk so far has the beginning of.
    bool lacks_beginning = false;
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

  void AddOverwritten(uint32_t slot, PacketCount lost) { Overwritten(slot) += lost; }
  /// What was counted as overwritten is in the buffer again, or is lost to something else.
  void TakeBackOverwritten(uint32_t slot, PacketCount there) {
    PacketCount& lost = Overwritten(slot);
    lost.packets -= there.packets;
    lost.bytes -= there.bytes;
  }
  /// A chunk was discarded.
  /// @param known_bytes returns how many of its first bytes are accounted for already, as it is in
  /// the buffer or was
  /// @param awaiting_bytes returns how many bytes of the packet that its first fragment continues
  /// are in the buffer
  template <typename KnownBytes, typename AwaitingBytes>
  void AddDiscarded(const ChunkCommit& commit, const ChunkShape& shape, KnownBytes known_bytes,
                    AwaitingBytes awaiting_bytes) {
    Discards& discards = discarded_[commit.sequence];
    DiscardedChunk* chunk = discards.Find(commit.chunk);
    if (chunk == nullptr) {
      if (discards.recent.size() == Discards::kMaxRecent) {
        lacks_beginnings_ |= discards.recent.front().lacks_beginning;
        discards.recent.erase(discards.recent.begin());
      }
      chunk = &discards.recent.emplace_back();
      chunk->id = commit.chunk;
    }
    chunk->bytes = std::max(chunk->bytes, known_bytes());

    const auto [count, flags] = FinishedPartOf(commit.fragments, commit.flags, commit.complete);
    const DiscardedChunk* const before = discards.Find(ChunkId{Raw(commit.chunk) - 1});
    DiscardedChunk* const next = discards.Find(Successor(commit.chunk));
    if (next != nullptr) next->lacks_beginning = false;
    const bool follows = before != nullptr && before->open;
    if (count == 0 && commit.complete && chunk->bytes == 0) {  // it is passed over
      chunk->open = follows;
      chunk->open_empty = follows && before->open_empty;
      return;
    }
    uint32_t begin = 0;
    bool is_empty = false;  // the packet of the last fragment
    for (const ShapeFragment& fragment :
         shape.fragments.first(std::min<size_t>(count, shape.fragments.size()))) {
      const uint32_t size = fragment.end - begin - fragment.header;
      const bool continues = begin == 0 && (flags & kFirstContinues) != 0;
      begin = fragment.end;
      if (fragment.end <= chunk->bytes) continue;
      // A packet counts where its first byte is.
      const bool counted = continues && follows && !before->open_empty;
      const uint64_t bytes = size + (continues && !follows ? awaiting_bytes() : 0);
      is_empty = !counted && bytes == 0;
      const bool counts = !counted && bytes > 0;
      if (continues) chunk->counted_front = counts && !follows;
      discards.count += {counts ? 1u : 0u, bytes};
    }
    if (begin <= chunk->bytes) return;
    chunk->bytes = begin;
    chunk->open = (flags & kLastContinues) != 0;
    chunk->open_empty = chunk->open && is_empty;
    // The next chunk was committed before this one, and its fragment counted as a packet of its
    // own.
    if (!chunk->open || chunk->open_empty || next == nullptr || !next->counted_front) return;
    next->counted_front = false;
    --discards.count.packets;
  }

  /// Whether the chunk is one of those that were discarded last.
  bool HasDiscarded(SequenceKey sequence, ChunkId chunk) {
    Discards* const discards = discarded_.Find(sequence);
    return discards != nullptr && discards->Find(chunk) != nullptr;
  }
  /// The chunk that was discarded last of the sequence continues a packet that no chunk so far has
  /// the beginning of. It counts only if the chunk before it is discarded later.
  void NoteNoBeginning(SequenceKey sequence, ChunkId chunk) {
    discarded_[sequence].Find(chunk)->lacks_beginning = true;
  }
  /// Whether there is such a chunk still: what was discarded is not known exactly then.
  bool LacksBeginnings() const {
    for (size_t i = 0; i < discarded_.size() && !lacks_beginnings_; ++i)
      for (const DiscardedChunk& chunk : discarded_.At(i).value.recent)
        if (chunk.lacks_beginning) return true;
    return lacks_beginnings_;
  }
  void SetUsedBytes(uint64_t bytes) { used_bytes_ = bytes; }
  /// Bytes of the buffer, from its start, that were ever written.
  uint64_t used_bytes() const { return used_bytes_; }
  /// @param slot of the sequence in the buffer
  PacketCount overwritten(uint32_t slot) const {
    return slot < overwritten_.size() ? overwritten_[slot] : PacketCount();
  }
  /// Of all sequences.
  uint64_t overwritten_packets() const {
    uint64_t packets = 0;
    for (size_t slot = 0; slot < overwritten_.size(); ++slot) packets += overwritten_[slot].packets;
    return packets;
  }
  PacketCount discarded(SequenceKey sequence) const {
    const Discards* discards = discarded_.Find(sequence);
    return discards == nullptr ? PacketCount() : discards->count;
  }

 private:
  PacketCount& Overwritten(uint32_t slot) {
    while (overwritten_.size() <= slot) overwritten_.emplace_back();
    return overwritten_[slot];
  }

  uint64_t used_bytes_ = 0;
  StableVector<PacketCount> overwritten_;  // by the sequence's slot
  SequenceMap<Discards> discarded_;
  bool lacks_beginnings_ = false;  // of chunks that are not among the recent ones any more
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_ENGINE_SHAPE_TALLY_H_
