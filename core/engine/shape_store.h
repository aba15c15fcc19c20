#ifndef RINGSCOPE_CORE_ENGINE_SHAPE_STORE_H_
#define RINGSCOPE_CORE_ENGINE_SHAPE_STORE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/engine/chunk_ring.h"
#include "core/engine/chunk_shape.h"
#include "core/engine/engine.h"
#include "core/engine/shape_store_base.h"
#include "core/perfetto/fragment.h"

namespace ringscope::v2 {

/// What a buffer keeps of its chunks' payloads if it keeps only their shapes: about 4 bytes per
/// fragment. What would need the bytes is a patch that changes a fragment's size, and a chunk that
/// is re-committed in another shape.
class ShapeStore : public ShapeStoreBase {
 public:
  using ShapeStoreBase::ShapeStoreBase;

  /// Takes the commit's fragments within the first `bytes` as those of a new chunk.
  void Write(ChunkRef ref, const StoredChunk& chunk, const ChunkCommit& commit, uint32_t bytes);
  /// The same for a chunk that is re-committed.
  void Rewrite(ChunkRef ref, const StoredChunk& chunk, const ChunkCommit& commit, uint32_t bytes);
  FragmentStatus Read(ChunkRef ref, const StoredChunk& chunk, uint32_t offset, Fragment& fragment);
  /// The whole fragment that was read last, and those that follow it, as long as they are whole.
  /// @param same_traits only as long as their traits are the same, too
  WholePackets ReadWhole(const StoredChunk& chunk, const Fragment& first, bool same_traits);
  void Apply(ChunkRef ref, const StoredChunk& chunk, const Patch& patch);
  static void Prefetch(const StoredChunk&) {}
  static void PrefetchStart(const StoredChunk&) {}

  /// Padding was put into the ring of chunks under this reference.
  void WriteNone(ChunkRef ref, bool at_front) {
    Entry& entry = entries_[ref & entry_mask_];
    entry = {};
    entry.release = at_front ? fragments_.begin() : fragments_.end();
  }
  /// The first chunk was taken out of the ring.
  void Release(ChunkRef ref) { fragments_.FreeBefore(entries_[ref & entry_mask_].release); }
  /// To be called before anything is put into the ring of chunks.
  void MakeSpace(const ChunkRing& chunks) {
    if (chunks.size() >= entries_.size()) [[unlikely]]
      GrowEntries(chunks);
  }

  static Bytes Payload(const StoredChunk&) { return {}; }
  /// Log time of the chunk's first commit.
  uint64_t committed_ns(ChunkRef ref) const { return entries_[ref & entry_mask_].committed_ns; }
  /// Packets, not empty, of an untouched chunk of whole packets, and their bytes.
  PacketCount Content(ChunkRef ref) const {
    const Entry& entry = entries_[ref & entry_mask_];
    return {entry.packets, entry.bytes};
  }
  /// A packet of a sequence whose beginning was overwritten, and which continues.
  struct CutOff {
    bool open = false;    // its end has not come yet
    bool counts = false;  // as overwritten
    ChunkId next{};       // in which it continues
    PacketCount count;
  };
  /// What is known of packets of a sequence that go over several chunks.
  struct Parts {
    static constexpr size_t kRemembered = 8;

    CutOff cut_off;  // the last one
    /// Chunks that have nothing but the end of an aborted packet.
    std::array<ChunkId, kRemembered> aborted{};
    uint32_t aborted_count = 0;
    /// The last chunk that was discarded, while the packet that it continues is in the buffer.
    std::optional<ChunkId> discarded;

    bool IsAborted(ChunkId chunk) const {
      const size_t count = aborted_count < kRemembered ? aborted_count : kRemembered;
      for (size_t i = 0; i < count; ++i)
        if (aborted[i] == chunk) return true;
      return false;
    }
  };
  Parts& PartsOf(uint32_t slot) {
    if (slot >= parts_.size()) [[unlikely]]
      parts_.resize(slot + 1);
    return parts_[slot];
  }
  bool HasCutOff(uint32_t slot) const { return slot < parts_.size() && parts_[slot].cut_off.open; }
  /// The chunk's last fragment; false: it has none.
  bool ReadLast(ChunkRef ref, Fragment& out);

 private:
  /// A chunk's part of fragments_, and what is known of the whole.
  struct Entry {
    uint64_t at = 0;            // of its first fragment
    uint64_t release = 0;       // fragments before this are free once the chunk has left the ring
    uint64_t committed_ns = 0;  // first commit
    uint32_t bytes = 0;         // of its packets, size varints apart
    uint16_t count = 0;
    uint16_t packets = 0;  // that are not empty
  };

  void SetFragments(Entry& entry, const ChunkShape& shape, uint32_t bytes);
  uint32_t Find(const Entry& entry, uint32_t offset);
  void GrowEntries(const ChunkRing& chunks);

  std::vector<Parts> parts_;    // by the sequence's slot
  std::vector<Entry> entries_;  // by chunk reference; a power of two
  uint32_t entry_mask_ = 0;
  // Where reading continues most of the time.
  ChunkRef next_ref_ = 0;
  uint32_t next_offset_ = UINT32_MAX;
  uint32_t next_index_ = 0;
};

}  // namespace ringscope::v2

#endif  // RINGSCOPE_CORE_ENGINE_SHAPE_STORE_H_
