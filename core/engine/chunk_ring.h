#ifndef RINGSCOPE_CORE_ENGINE_CHUNK_RING_H_
#define RINGSCOPE_CORE_ENGINE_CHUNK_RING_H_

#include <cstdint>
#include <vector>

#include "core/base/gap_list.h"
#include "core/base/ids.h"
#include "core/perfetto/chunk.h"

namespace ringscope {

/// Names an item for as long as it is in its ring; wraps.
using RingRef = uint32_t;

/// Items that are added at both ends and taken from the front. References stay valid as it grows.
template <typename T>
class Ring {
 public:
  T& operator[](RingRef ref) { return slots_[ref & mask_]; }
  const T& operator[](RingRef ref) const { return slots_[ref & mask_]; }

  RingRef begin() const { return head_; }
  RingRef end() const { return tail_; }
  bool empty() const { return head_ == tail_; }
  uint32_t size() const { return tail_ - head_; }
  const T& front() const { return (*this)[head_]; }

  RingRef PushBack(const T& item) {
    if (size() == slots_.size()) [[unlikely]]
      Grow();
    slots_[tail_ & mask_] = item;
    return tail_++;
  }
  void PushFront(const T& item) {
    if (size() == slots_.size()) [[unlikely]]
      Grow();
    slots_[--head_ & mask_] = item;
  }
  void PopFront() { ++head_; }

  /// Visits the items of a buffer with this write cursor in order of their offsets: those in front
  /// of the cursor come last in the ring.
  template <typename Visit>
  void VisitByOffset(uint64_t cursor, Visit visit) const {
    for (const bool after_cursor : {false, true})
      for (RingRef ref = head_; ref != tail_; ++ref)
        if (((*this)[ref].offset() >= cursor) == after_cursor) visit((*this)[ref]);
  }

 private:
  void Grow() {
    std::vector<T> old(slots_.empty() ? 64 : slots_.size() * 2);
    old.swap(slots_);
    const auto old_mask = mask_;
    mask_ = static_cast<uint32_t>(slots_.size() - 1);
    for (RingRef ref = head_; ref != tail_; ++ref) slots_[ref & mask_] = old[ref & old_mask];
  }

  std::vector<T> slots_;  // a power of two, once it has any
  uint32_t mask_ = 0;
  RingRef head_ = 0;
  RingRef tail_ = 0;
};

/// Stored with a chunk beside the shared-memory ABI's flags: the writer may still have it.
inline constexpr uint8_t kIncompleteChunk = 0x80;

/// Facts of a chunk in the buffer. The buffer's bytes hold only payloads; the facts are kept
/// beside them, so that walking over chunks does not touch cold memory.
struct StoredChunk {
  static constexpr uint32_t kPadding = UINT32_MAX;

  uint32_t offset_16 = 0;  // in the buffer, in units of 16 bytes
  ChunkId id{};
  uint32_t sequence = kPadding;  // its slot
  uint16_t size = 0;             // payload bytes reserved, fixed for life
  uint16_t payload_size = 0;     // bytes of valid fragments
  uint16_t payload_avail = 0;    // of these, not consumed
  uint8_t flags = 0;
  bool all_whole = false;  // known to hold whole packets only, at least one not empty

  uint64_t offset() const { return uint64_t{offset_16} * 16; }
  uint32_t outer_size() const { return OuterSize(size); }
  uint64_t end() const { return offset() + outer_size(); }
  uint32_t unread_offset() const { return uint32_t{payload_size} - payload_avail; }
  bool is_padding() const { return sequence == kPadding; }
  bool is_incomplete() const { return (flags & kIncompleteChunk) != 0; }
};
static_assert(sizeof(StoredChunk) == 20);

/// Names a chunk for as long as it is in the buffer; wraps.
using ChunkRef = RingRef;

/// The chunks of a buffer in buffer order, beginning at the write cursor: what it will overwrite
/// next comes first, what was written last comes last.
using ChunkRing = Ring<StoredChunk>;

/// A sequence's chunks, ordered by chunk id.
using ChunkList = GapList<ChunkRef>;

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_ENGINE_CHUNK_RING_H_
