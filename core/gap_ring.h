#ifndef RINGSCOPE_CORE_GAP_RING_H_
#define RINGSCOPE_CORE_GAP_RING_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

namespace ringscope {

/// An ordered list of small items whose ends are cheap, and whose middle is, too, where insertions
/// stay near the last one. A ring that grows. After an insertion in the middle what lies behind it
/// stands apart, at the far side of the free room, so that the next insertion there moves nothing;
/// adding at the back closes that gap again.
template <typename T>
class GapRing {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 4 == 0);

 public:
  GapRing() = default;
  GapRing(const GapRing& other) { *this = other; }
  GapRing& operator=(const GapRing& other) {
    if (this == &other) return *this;
    Reserve(other.capacity_);
    CopyItems(other);
    return *this;
  }
  // What was moved from can only be assigned to or destroyed.
  GapRing(GapRing&&) = default;
  GapRing& operator=(GapRing&&) = default;

  uint32_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  T& operator[](uint32_t i) { return slot(PlaceOf(i)); }
  const T& operator[](uint32_t i) const { return slot(PlaceOf(i)); }
  T& front() { return slot(head_); }
  const T& front() const { return slot(head_); }
  const T& back() const { return (*this)[count_ - 1]; }

  void PopFront() {
    ++head_;
    --count_;
    if (gapped_ && gap().right == count_) [[unlikely]] {
      head_ = gap().end - count_;
      gapped_ = false;
    }
    // Most lists of a log with very many are done for good once they are empty.
    if (count_ == 0 && capacity_ > kKeptWhenEmpty) [[unlikely]]
      Reserve(0);
  }

  /// Puts `item` before the one at `at`; at == size() appends.
  void Insert(uint32_t at, const T& item) {
    if (at != count_ || gapped_ || count_ == capacity_) [[unlikely]]
      at = OpenAt(at);
    slot(head_ + at) = item;
    ++count_;
  }

 private:
  static constexpr uint32_t kKeptWhenEmpty = 16;
  /// How much nearer the front must be than the gap, so that what comes before is moved instead.
  static constexpr uint32_t kFarFromGap = 64;

  /// Where there is a gap: the items behind it end before the place `end`.
  struct Gap {
    uint32_t end = 0;
    uint32_t right = 0;  // items behind it
  };
  /// Items' worth of room in front of the others that keeps the Gap: rings without one stay small.
  static constexpr uint32_t kGapItems = (sizeof(Gap) + sizeof(T) - 1) / sizeof(T);

  // Places are counted modulo the capacity.
  T& slot(uint32_t place) { return memory_[kGapItems + (place & (capacity_ - 1))]; }
  const T& slot(uint32_t place) const { return memory_[kGapItems + (place & (capacity_ - 1))]; }

  uint32_t PlaceOf(uint32_t i) const {
    if (!gapped_) [[likely]]
      return head_ + i;
    const Gap gap = this->gap();
    return i < count_ - gap.right ? head_ + i : gap.end - (count_ - i);
  }

  Gap gap() const {
    Gap gap;
    std::memcpy(static_cast<void*>(&gap), static_cast<const void*>(memory_.get()), sizeof(gap));
    return gap;
  }
  void SetGap(Gap gap) {
    std::memcpy(static_cast<void*>(memory_.get()), &gap, sizeof(gap));
    gapped_ = gap.right > 0;
  }

  /// Makes room at head_ + the returned index for an item that shall stand before the one at `at`.
  uint32_t OpenAt(uint32_t at) {
    if (gapped_ && RoomInGap() == 0) {
      gapped_ = false;  // the items lie one behind the other again
      // Opening it again moves what lies behind it: not too often.
      if (capacity_ - count_ < capacity_ / 8) Grow();
    }
    if (count_ == capacity_) Grow();
    if (!gapped_ && at < (count_ - at) / kFarFromGap) {
      --head_;
      for (uint32_t i = 0; i < at; ++i) slot(head_ + i) = slot(head_ + i + 1);
      return at;
    }
    // Without a gap: an empty part behind one that takes all the room.
    Gap gap = gapped_ ? this->gap() : Gap{.end = head_ + capacity_, .right = 0};
    uint32_t left = count_ - gap.right;
    for (; left > at; --left) slot(gap.end - ++gap.right) = slot(head_ + left - 1);
    for (; left < at; ++left) slot(head_ + left) = slot(gap.end - gap.right--);
    SetGap(gap);
    return at;
  }

  uint32_t RoomInGap() const {
    const uint32_t span = ((gap().end - head_ - 1) & (capacity_ - 1)) + 1;
    return span - count_;
  }

  /// Empties it.
  void Reserve(uint32_t capacity) {
    memory_ = capacity == 0 ? nullptr : std::make_unique_for_overwrite<T[]>(kGapItems + capacity);
    capacity_ = capacity;
    head_ = count_ = 0;
    gapped_ = false;
  }

  void CopyItems(const GapRing& from) {
    for (uint32_t i = 0; i < from.count_; ++i) slot(i) = from[i];
    count_ = from.count_;
  }

  void Grow() {
    GapRing grown;
    grown.Reserve(capacity_ == 0 ? 2 : capacity_ * 2);
    grown.CopyItems(*this);
    *this = std::move(grown);
  }

  std::unique_ptr<T[]> memory_;  // the Gap, then the items
  uint32_t capacity_ = 0;        // a power of two, or 0
  uint32_t head_ = 0;
  uint32_t count_ = 0;
  bool gapped_ = false;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAP_RING_H_
