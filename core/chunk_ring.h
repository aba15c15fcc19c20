#ifndef RINGSCOPE_CORE_CHUNK_RING_H_
#define RINGSCOPE_CORE_CHUNK_RING_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/ids.h"

namespace ringscope {

/// Stored with a chunk beside the shared-memory ABI's flags: the writer may still have it.
inline constexpr uint8_t kIncompleteChunk = 0x80;

/// Bytes that a chunk occupies in the buffer, header and alignment included.
/// @param size payload bytes reserved
/// Source: Perfetto TraceBufferV2, 16-byte chunk header and alignment.
constexpr uint32_t OuterSize(uint32_t size) { return (16 + size + 15) & ~uint32_t{15}; }

/// What is known of a chunk in the buffer. The buffer's bytes hold only payloads; this is kept
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
using ChunkRef = uint32_t;

/// The chunks of a buffer in buffer order, beginning at the write cursor: what it will overwrite
/// next comes first, what was written last comes last. References stay valid as it grows.
class ChunkRing {
 public:
  StoredChunk& operator[](ChunkRef ref) { return slots_[ref & mask_]; }
  const StoredChunk& operator[](ChunkRef ref) const { return slots_[ref & mask_]; }

  ChunkRef begin() const { return head_; }
  ChunkRef end() const { return tail_; }
  bool empty() const { return head_ == tail_; }
  uint32_t size() const { return tail_ - head_; }

  ChunkRef PushBack(const StoredChunk& chunk) {
    if (size() == slots_.size()) [[unlikely]]
      Grow();
    slots_[tail_ & mask_] = chunk;
    return tail_++;
  }
  void PushFront(const StoredChunk& chunk) {
    if (size() == slots_.size()) [[unlikely]]
      Grow();
    slots_[--head_ & mask_] = chunk;
  }
  void PopFront() { ++head_; }

 private:
  void Grow() {
    std::vector<StoredChunk> old(slots_.empty() ? 64 : slots_.size() * 2);
    old.swap(slots_);
    const auto old_mask = mask_;
    mask_ = static_cast<uint32_t>(slots_.size() - 1);
    for (ChunkRef ref = head_; ref != tail_; ++ref) slots_[ref & mask_] = old[ref & old_mask];
  }

  std::vector<StoredChunk> slots_;  // a power of two, once it has any
  uint32_t mask_ = 0;
  ChunkRef head_ = 0;
  ChunkRef tail_ = 0;
};

/// A sequence's chunks, ordered by chunk id: a ring of references. Taking from the front and adding
/// at the back are the usual cases; inserting moves the shorter side.
class ChunkList {
 public:
  ChunkList() = default;
  ChunkList(const ChunkList& other) { *this = other; }
  ChunkList& operator=(const ChunkList& other) {
    if (this == &other) return *this;
    Reserve(other.capacity_);
    count_ = other.count_;
    for (uint32_t i = 0; i < count_; ++i) slots_[i] = other[i];
    return *this;
  }
  // What was moved from can only be assigned to or destroyed.
  ChunkList(ChunkList&&) = default;
  ChunkList& operator=(ChunkList&&) = default;

  uint32_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  ChunkRef operator[](uint32_t i) const { return slots_[(head_ + i) & (capacity_ - 1)]; }
  ChunkRef front() const { return slots_[head_]; }
  ChunkRef back() const { return (*this)[count_ - 1]; }

  void PopFront() {
    head_ = (head_ + 1) & (capacity_ - 1);
    // Most sequences of a log with very many are done for good once they are empty.
    if (--count_ == 0 && capacity_ > kKeptWhenEmpty) Reserve(0);
  }

  /// Puts `ref` before the element at `at`; at == size() appends.
  void Insert(uint32_t at, ChunkRef ref) {
    if (count_ == capacity_) [[unlikely]]
      Grow();
    if (at > count_ / 2 || at == count_) {
      for (uint32_t i = count_; i > at; --i) slot(i) = slot(i - 1);
    } else {
      head_ = (head_ - 1) & (capacity_ - 1);
      for (uint32_t i = 0; i < at; ++i) slot(i) = slot(i + 1);
    }
    slot(at) = ref;
    ++count_;
  }

 private:
  static constexpr uint32_t kKeptWhenEmpty = 16;

  ChunkRef& slot(uint32_t i) { return slots_[(head_ + i) & (capacity_ - 1)]; }

  /// Empties it.
  void Reserve(uint32_t capacity) {
    slots_ = capacity == 0 ? nullptr : std::make_unique_for_overwrite<ChunkRef[]>(capacity);
    capacity_ = capacity;
    head_ = count_ = 0;
  }

  void Grow() {
    ChunkList grown;
    grown.Reserve(capacity_ == 0 ? 2 : capacity_ * 2);
    grown.count_ = count_;
    for (uint32_t i = 0; i < count_; ++i) grown.slots_[i] = (*this)[i];
    *this = std::move(grown);
  }

  std::unique_ptr<ChunkRef[]> slots_;
  uint32_t capacity_ = 0;  // a power of two, or 0
  uint32_t head_ = 0;
  uint32_t count_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_CHUNK_RING_H_
