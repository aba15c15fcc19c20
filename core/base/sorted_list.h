#ifndef RINGSCOPE_CORE_BASE_SORTED_LIST_H_
#define RINGSCOPE_CORE_BASE_SORTED_LIST_H_

#include <cstdint>
#include <utility>

#include "core/base/gap_list.h"

namespace ringscope {

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

#endif  // RINGSCOPE_CORE_BASE_SORTED_LIST_H_
