#ifndef RINGSCOPE_CORE_BASE_GAP_LIST_H_
#define RINGSCOPE_CORE_BASE_GAP_LIST_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

#include "core/base/lookup.h"

namespace ringscope {

/// An ordered list of small items whose ends are cheap, and whose middle is, too, where insertions
/// stay near the last one: a gap buffer. The items after the last insertion are at the end of the
/// storage; free space is between them and the others, and where items were taken from the front.
template <typename T>
class GapList {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  GapList() = default;
  GapList(const GapList& other) { *this = other; }
  GapList& operator=(const GapList& other) {
    if (this == &other) return *this;
    *this = GapList();
    TakeItems(other, other.capacity(), 0);
    return *this;
  }
  // A list that was moved from can only be assigned to or destroyed.
  GapList(GapList&&) = default;
  GapList& operator=(GapList&&) = default;

  uint32_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  // Inlined in any case: it is a few instructions on the way of each commit and patch.
  [[gnu::always_inline]] T& operator[](uint32_t i) { return items_[PlaceOf(i)]; }
  [[gnu::always_inline]] const T& operator[](uint32_t i) const { return items_[PlaceOf(i)]; }
  T& front() { return items_[head_]; }
  const T& front() const { return items_[head_]; }
  const T& back() const { return (*this)[count_ - 1]; }

  void PopFront() {
    ++head_, --left_, --count_;
    if (left_ == 0) [[unlikely]]
      TidyFront();
  }

  /// Puts `item` before the one at `at`; at == size() appends.
  void Insert(uint32_t at, const T& item) {
    if (at != left_ || gap_ == 0) [[unlikely]] {
      if (left_ == count_ && at < (count_ - at) / kFarFromGap) return InsertInFront(at, item);
      OpenAt(at);
    }
    items_[head_ + left_] = item;
    ++left_, ++count_, --gap_;
  }

 private:
  static constexpr uint32_t kKeptWhenEmpty = 16;
  /// Times that the front must be nearer than the gap, so that the items before are moved instead.
  static constexpr uint32_t kFarFromGap = 64;

  uint32_t capacity() const { return head_ + count_ + gap_; }
  uint32_t PlaceOf(uint32_t i) const { return head_ + i + (i < left_ ? 0 : gap_); }

  /// Only the items after the gap are left, or none.
  [[gnu::noinline]] void TidyFront() {
    if (count_ > 0)
      head_ += std::exchange(gap_, 0), left_ = count_;
    else if (capacity() <= kKeptWhenEmpty)
      gap_ += std::exchange(head_, 0);
    else  // most lists of a log with very many are done for good once they are empty
      *this = GapList();
  }

  /// Opens a gap before the item at `at`.
  [[gnu::noinline]] void OpenAt(uint32_t at) {
    if (gap_ == 0) JoinItems(false);
    if (at < left_)
      Move(&items_[head_ + at + gap_], &items_[head_ + at], left_ - at);
    else
      Move(&items_[head_ + left_], &items_[head_ + left_ + gap_], at - left_);
    left_ = at;
  }

  /// Moves the few items before the one at `at`, and opens no gap.
  [[gnu::noinline]] void InsertInFront(uint32_t at, const T& item) {
    if (head_ == 0) JoinItems(true);
    --head_, ++left_, ++count_;
    Move(&items_[head_], &items_[head_ + 1], at);
    items_[head_ + at] = item;
  }

  /// Closes the gap and makes some space, after the items or on both sides of them.
  void JoinItems(bool on_both_sides) {
    const uint32_t space = capacity() - count_;
    // Moving the items costs what growing does: once for as many insertions as there are items.
    const uint32_t grown = space > capacity() / 2 ? capacity() : std::max(2u, capacity() * 2);
    TakeItems(*this, grown, on_both_sides ? (grown - count_) / 2 : 0);
  }

  /// Copies the items of a list, which may be this one, to the place `head` and those after it.
  void TakeItems(const GapList& from, uint32_t capacity, uint32_t head) {
    T* const to = capacity == this->capacity() ? items_.get() : new T[capacity];
    Move(to + head, from.items_.get() + from.head_, from.left_);
    Move(to + head + from.left_, from.items_.get() + from.PlaceOf(from.left_),
         from.count_ - from.left_);
    if (to != items_.get()) items_.reset(to);
    head_ = head;
    left_ = count_ = from.count_;
    gap_ = capacity - head - count_;
  }

  static void Move(T* to, const T* from, uint32_t count) {
    if (count > 0) std::memmove(static_cast<void*>(to), from, count * sizeof(T));
  }

  std::unique_ptr<T[]> items_;  // from `head_` on: `left_` items, the gap, and the others
  uint32_t head_ = 0;
  uint32_t left_ = 0;  // none only if the list is empty
  uint32_t gap_ = 0;
  uint32_t count_ = 0;
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
    return FirstNotBefore(1u, count - 1, [&](uint32_t at) { return items_[at].key < key; });
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
    if (removed_ <= size() / 2) return;
    GapList<Item> kept;
    for (uint32_t i = 0; i < size(); ++i)
      if (!IsRemoved(i)) kept.Insert(kept.size(), items_[i]);
    items_ = std::move(kept);
    removed_ = 0;
  }

 private:
  GapList<Item> items_;
  uint32_t removed_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_BASE_GAP_LIST_H_
