#ifndef RINGSCOPE_CORE_BASE_GAP_LIST_H_
#define RINGSCOPE_CORE_BASE_GAP_LIST_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

namespace ringscope {

/// An ordered list of small items whose ends are cheap, and whose middle is, too, where insertions
/// stay near the last one: a ring that grows. The items after an insertion in the middle are kept
/// apart, at the far side of the free space; adding at the back closes that gap again.
template <typename T>
class GapList {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 4 == 0);

 public:
  GapList() = default;
  GapList(const GapList& other) { *this = other; }
  GapList& operator=(const GapList& other) {
    if (this == &other) return *this;
    Reserve(other.capacity());
    CopyItems(other);
    return *this;
  }
  // A list that was moved from can only be assigned to or destroyed.
  GapList(GapList&&) = default;
  GapList& operator=(GapList&&) = default;

  uint32_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  // Inlined in any case: it is a few instructions on the way of each commit and patch.
  [[gnu::always_inline]] T& operator[](uint32_t i) { return slot(PlaceOf(i)); }
  [[gnu::always_inline]] const T& operator[](uint32_t i) const { return slot(PlaceOf(i)); }
  T& front() { return items_[head_]; }
  const T& front() const { return items_[head_]; }
  const T& back() const { return (*this)[count_ - 1]; }

  void PopFront() {
    head_ = (head_ + 1) & mask_;
    --count_;
    if (gapped_ || count_ == 0) [[unlikely]]
      TidyFront();
  }

  /// Puts `item` before the one at `at`; at == size() appends.
  void Insert(uint32_t at, const T& item) {
    if (at != count_ || gapped_ || count_ == capacity()) [[unlikely]]
      OpenAt(at);
    slot(head_ + at) = item;
    ++count_;
  }

 private:
  static constexpr uint32_t kKeptWhenEmpty = 16;
  /// Times that the front must be nearer than the gap, so that the items before are moved instead.
  static constexpr uint32_t kFarFromGap = 64;

  /// The free space between two runs of items. Those after it end before the place `end`.
  struct Gap {
    uint32_t end = 0;
    uint32_t right = 0;  // items after it
  };
  /// Items' worth of space in front of the others that holds the Gap: rings without one stay small.
  static constexpr uint32_t kGapItems = (sizeof(Gap) + sizeof(T) - 1) / sizeof(T);
  struct Free {
    void operator()(T* items) const { delete[](items - kGapItems); }
  };

  uint32_t capacity() const { return mask_ + 1; }

  // Places are counted modulo the capacity.
  T& slot(uint32_t place) { return items_[place & mask_]; }
  const T& slot(uint32_t place) const { return items_[place & mask_]; }

  uint32_t PlaceOf(uint32_t i) const {
    if (!gapped_) [[likely]]
      return head_ + i;
    const Gap gap = this->gap();
    return i < count_ - gap.right ? head_ + i : gap.end - (count_ - i);
  }

  Gap gap() const {
    Gap gap;
    std::memcpy(static_cast<void*>(&gap), static_cast<const void*>(items_.get() - kGapItems),
                sizeof(gap));
    return gap;
  }
  void SetGap(Gap gap) {
    std::memcpy(static_cast<void*>(items_.get() - kGapItems), &gap, sizeof(gap));
    gapped_ = gap.right > 0;
  }

  /// After an item was taken.
  [[gnu::noinline]] void TidyFront() {
    if (gapped_ && gap().right == count_) {
      head_ = (gap().end - count_) & mask_;
      gapped_ = false;
    }
    // Most lists of a log with very many are done for good once they are empty.
    if (count_ == 0 && capacity() > kKeptWhenEmpty) Reserve(0);
  }

  /// Makes space at head_ + `at` for an item that is to come before the one at `at`.
  [[gnu::noinline]] void OpenAt(uint32_t at) {
    if (gapped_ && SpaceInGap() == 0) {
      gapped_ = false;  // the items are contiguous again
      // Opening it again moves what follows it: not too often.
      if (capacity() - count_ < capacity() / 8) Grow();
    }
    if (count_ == capacity()) Grow();
    if (!gapped_ && at < (count_ - at) / kFarFromGap) {
      MoveForth(head_, head_ - 1, at);
      head_ = (head_ - 1) & mask_;
      return;
    }
    // Without a gap: an empty part after one that takes all the space.
    Gap gap = gapped_ ? this->gap() : Gap{.end = head_ + capacity(), .right = 0};
    const uint32_t left = count_ - gap.right;
    if (at < left)
      MoveBack(head_ + left, gap.end - gap.right, left - at);
    else
      MoveForth(gap.end - gap.right, head_ + left, at - left);
    gap.right = count_ - at;
    SetGap(gap);
  }

  /// Moves the `count` items before the place `from` to before the place `to`, which is after
  /// it.
  void MoveBack(uint32_t from, uint32_t to, uint32_t count) {
    while (count > 0) {
      const uint32_t run = std::min({count, ((from - 1) & mask_) + 1, ((to - 1) & mask_) + 1});
      from -= run;
      to -= run;
      count -= run;
      std::memmove(static_cast<void*>(&slot(to)), &slot(from), run * sizeof(T));
    }
  }
  /// Moves the `count` items at the place `from` to the place `to`, which is before it.
  void MoveForth(uint32_t from, uint32_t to, uint32_t count) {
    while (count > 0) {
      const uint32_t run =
          std::min({count, capacity() - (from & mask_), capacity() - (to & mask_)});
      std::memmove(static_cast<void*>(&slot(to)), &slot(from), run * sizeof(T));
      from += run;
      to += run;
      count -= run;
    }
  }

  uint32_t SpaceInGap() const {
    const uint32_t span = ((gap().end - head_ - 1) & mask_) + 1;
    return span - count_;
  }

  /// Empties it.
  void Reserve(uint32_t capacity) {
    items_.reset(capacity == 0 ? nullptr : new T[kGapItems + capacity] + kGapItems);
    mask_ = capacity - 1;
    head_ = count_ = 0;
    gapped_ = false;
  }

  void CopyItems(const GapList& from) {
    for (uint32_t i = 0; i < from.count_; ++i) slot(i) = from[i];
    count_ = from.count_;
  }

  void Grow() {
    GapList grown;
    grown.Reserve(capacity() == 0 ? 2 : capacity() * 2);
    grown.CopyItems(*this);
    *this = std::move(grown);
  }

  std::unique_ptr<T[], Free> items_;  // after the Gap
  uint32_t mask_ = UINT32_MAX;        // the capacity - 1; that is a power of two, or 0
  uint32_t head_ = 0;                 // a place below the capacity
  uint32_t count_ = 0;
  bool gapped_ = false;
};

/// Numbers in order, each with a value. Adding after the last, removing the first, and finding
/// where there are no holes take constant time, removing from the middle does on average: what is
/// removed there keeps its place for a while, and has to be passed over.
class SortedList {
 public:
  static constexpr uint32_t kRemoved = UINT32_MAX;  // no item's value
  struct Item {
    uint32_t key = 0;
    uint32_t value = 0;
  };

  /// Places, those of what was removed included.
  uint32_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  const Item& operator[](uint32_t at) const { return items_[at]; }
  bool IsRemoved(uint32_t at) const { return items_[at].value == kRemoved; }
  /// Returns the place of the first item at `at` or after it, or size().
  uint32_t NextItem(uint32_t at) const {
    while (at < size() && IsRemoved(at)) ++at;
    return at;
  }

  /// Returns the first place whose key is not less than `key`, or size().
  uint32_t LowerBound(uint32_t key) const {
    const uint32_t count = items_.size();
    if (count == 0 || items_.back().key < key) return count;
    const uint32_t first = items_.front().key;
    if (key <= first) return 0;
    // Keys without holes: the place is known by arithmetic, from either end.
    const uint32_t from_first = key - first;
    if (from_first < count && items_[from_first].key == key) return from_first;
    const uint32_t to_last = items_.back().key - key;
    if (to_last < count) {
      if (items_[count - 1 - to_last].key == key) return count - 1 - to_last;
      // Only the key itself is missing.
      if (items_[count - 1 - to_last].key < key && items_[count - to_last].key == key + 1)
        return count - to_last;
    }
    uint32_t low = 1, high = count - 1;  // high's key is not less
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (items_[middle].key < key)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  /// Returns true if an item with the key is at a place that LowerBound gave.
  bool Holds(uint32_t at, uint32_t key) const {
    return at < size() && items_[at].key == key && !IsRemoved(at);
  }

  /// Adds an item whose key is not there. Moves places.
  void Insert(Item item) {
    const uint32_t at = LowerBound(item.key);
    if (at < size() && items_[at].key == item.key) {
      items_[at] = item;  // it was removed here
      --removed_;
    } else {
      items_.Insert(at, item);
    }
  }
  /// Removes the item at a place. Moves places.
  void Remove(uint32_t at) {
    if (at == 0 && removed_ == 0) return items_.PopFront();
    items_[at].value = kRemoved;
    ++removed_;
    while (!empty() && IsRemoved(0)) {
      items_.PopFront();
      --removed_;
    }
    if (removed_ > size() / 2) TakeOutRemoved();
  }

 private:
  void TakeOutRemoved() {
    GapList<Item> kept;
    for (uint32_t i = 0; i < size(); ++i)
      if (!IsRemoved(i)) kept.Insert(kept.size(), items_[i]);
    items_ = std::move(kept);
    removed_ = 0;
  }

  GapList<Item> items_;
  uint32_t removed_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_BASE_GAP_LIST_H_
