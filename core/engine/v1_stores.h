#ifndef RINGSCOPE_CORE_ENGINE_V1_STORES_H_
#define RINGSCOPE_CORE_ENGINE_V1_STORES_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "core/base/packet_count.h"
#include "core/base/sequence_map.h"
#include "core/base/wire.h"
#include "core/engine/shape_store_base.h"
#include "core/engine/zeroed_storage.h"
#include "core/perfetto/commit_request.h"
#include "core/perfetto/fragment.h"

namespace ringscope::v1 {

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
  bool first_continues() const { return (flags & kFirstContinues) != 0; }
  bool last_continues() const { return (flags & kLastContinues) != 0; }
};

/// Names a chunk as long as it is in the buffer.
using ChunkSlot = uint32_t;

/// Where V1 keeps its chunks' payloads: as bytes. (ShapeStore keeps none.)
class PayloadStore {
 public:
  static constexpr bool kHasBytes = true;
  using Interface = Engine;  // of a buffer with this store

  explicit PayloadStore(ZeroedStorage storage) : storage_(std::move(storage)) {}

  static uint32_t PayloadSize(const ChunkCommit& commit) {
    return static_cast<uint32_t>(commit.payload.size());
  }
  /// Takes the commit's payload as that of a new chunk.
  void Write(ChunkSlot slot, const Chunk& chunk, const ChunkCommit& commit) {
    Rewrite(slot, chunk, commit);
  }
  /// The same for a chunk that is re-committed.
  void Rewrite(ChunkSlot, const Chunk& chunk, const ChunkCommit& commit) {
    uint8_t* const to = storage_.get() + chunk.offset + kStoredHeaderSize;
    const size_t bytes = commit.payload.size();
    if (bytes > 0) std::memcpy(to, commit.payload.data(), bytes);
    std::memset(to + bytes, 0, chunk.record_size - kStoredHeaderSize - bytes);
  }
  /// The chunk's next fragment.
  FragmentStatus Read(ChunkSlot, const Chunk& chunk, Fragment& out) const {
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
  void Apply(ChunkSlot, const Chunk& chunk, const Patch& patch) {
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

/// What V1 keeps of its chunks' payloads if it keeps only their shapes, and what it knows of
/// packets that it lost.
class ShapeStore : public ShapeStoreBase {
 public:
  using ShapeStoreBase::ShapeStoreBase;

  /// A chunk that left the buffer: it may be committed again, and is taken in then.
  struct Gone {
    uint32_t id = 0;
    uint32_t chunks_before = 0;   // that had left the buffer before it, modulo 2^32
    uint32_t packets_before = 0;  // that were overwritten before it left, modulo 2^32
    uint32_t lost_packets = 0;    // with it, of whole ones
    uint32_t lost_bytes = 0;
    uint16_t fragments = 0;
    uint16_t bytes = 0;      // of these
    uint16_t accounted = 0;  // fragments that were read
    bool cut_off = false;  // its last fragment was the beginning of a packet that was lost with it
  };
  /// What is known of a sequence's lost packets.
  struct Losses {
    static constexpr uint32_t kRemembered = 4;

    std::array<Gone, kRemembered> gone;  // the chunks that left last
    uint32_t gone_count = 0;             // that ever left
    uint32_t newest_gone = 0;
    uint32_t newest = 0;  // chunk that was committed
    // The packet that was cut off last, as far as it may continue.
    bool open = false;
    uint32_t open_next = 0;  // the chunk that it continues in
    PacketCount open_count;  // as it is counted so far
    // The chunk that was discarded though it continues a packet in the buffer.
    bool has_discarded = false;
    uint32_t discarded = 0;
  };

  void Write(ChunkSlot slot, const Chunk& chunk, const ChunkCommit& commit);
  void Rewrite(ChunkSlot slot, const Chunk& chunk, const ChunkCommit& commit);
  FragmentStatus Read(ChunkSlot slot, const Chunk& chunk, Fragment& out);
  /// The fragments of the chunk from the next one on that are whole packets, not empty, with the
  /// traits of the one that was read last.
  WholePackets ReadWhole(ChunkSlot slot, const Chunk& chunk) const;
  void Apply(ChunkSlot slot, const Chunk& chunk, const Patch& patch);
  static void Prefetch(const Chunk&) {}
  static Bytes Payload(const Chunk&) { return {}; }

  /// The chunk, the first in buffer order, leaves the buffer.
  void Release(ChunkSlot slot) { fragments_.FreeBefore(entries_[slot].release); }
  /// The incoming shape must begin with the fragments that the chunk has.
  void CheckKept(ChunkSlot slot, const Chunk& chunk);
  /// The first `accounted` fragments of the chunk were accounted for before it was committed again.
  void SetAccounted(ChunkSlot slot, uint16_t accounted) { entries_[slot].accounted = accounted; }

  /// Fragments of the chunk that are there, from its first one on.
  uint32_t CountOf(ChunkSlot slot) const { return entries_[slot].count; }
  uint16_t AccountedOf(ChunkSlot slot) const { return entries_[slot].accounted; }
  /// Of the fragments `first` up to (not with) `end`, those that are not empty.
  PacketCount ContentOf(ChunkSlot slot, uint32_t first, uint32_t end) const;
  uint32_t SizeOf(ChunkSlot slot, uint32_t index) const {
    const ShapeFragment& fragment = fragments_[entries_[slot].at + index];
    return fragment.end - BeginOf(slot, index) - fragment.header;
  }
  /// Offset of a fragment, or, of the one after the last, of what follows.
  uint32_t BeginOf(ChunkSlot slot, uint32_t index) const {
    return index == 0 ? 0 : fragments_[entries_[slot].at + index - 1].end;
  }
  /// Log time of the chunk's commit.
  uint64_t committed_ns(ChunkSlot slot) const { return entries_[slot].committed_ns; }

  Losses& LossesOf(uint32_t sequence) {
    while (losses_.size() <= sequence) losses_.emplace_back();
    return losses_[sequence];
  }
  /// Chunks that left the buffer, and packets that were overwritten, modulo 2^32.
  uint32_t chunks_gone() const { return chunks_gone_; }
  uint32_t packets_gone() const { return packets_gone_; }
  void AddGone(uint64_t packets) {
    ++chunks_gone_;
    packets_gone_ += static_cast<uint32_t>(packets);
  }

 private:
  /// A chunk's part of fragments_, and what is known of the whole.
  struct Entry {
    uint64_t at = 0;       // of its first fragment
    uint64_t release = 0;  // fragments before this are free once the chunk has left the ring
    uint64_t committed_ns = 0;
    uint32_t content_bytes = 0;  // of the fragments, without their size varints
    uint16_t filled = 0;         // that are not empty
    uint16_t count = 0;
    uint16_t accounted = 0;
    FragmentStatus end = FragmentStatus::kFragment;  // what follows them
  };

  void SetFragments(Entry& entry, const Chunk& chunk);

  std::vector<Entry> entries_;   // by ChunkSlot
  StableVector<Losses> losses_;  // by the sequence's slot
  uint32_t chunks_gone_ = 0;
  uint32_t packets_gone_ = 0;
};

}  // namespace ringscope::v1

#endif  // RINGSCOPE_CORE_ENGINE_V1_STORES_H_
