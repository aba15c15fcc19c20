#ifndef RINGSCOPE_CORE_SORTED_RING_H_
#define RINGSCOPE_CORE_SORTED_RING_H_

#include <cstdint>
#include <memory>

namespace ringscope {

/// A ring of trivially copyable items that grows: both ends are cheap, the middle moves the shorter
/// side.
template <typename T>
class Ring {
 public:
  Ring() = default;
  Ring(const Ring& other) { *this = other; }
  Ring& operator=(const Ring& other) {
    if (this == &other) return *this;
    items_ = other.capacity_ == 0 ? nullptr : std::make_unique_for_overwrite<T[]>(other.capacity_);
    capacity_ = other.capacity_;
    head_ = 0;
    count_ = other.count_;
    for (uint32_t i = 0; i < count_; ++i) items_[i] = other[i];
    return *this;
  }
  // What was moved from can only be assigned to or destroyed.
  Ring(Ring&&) = default;
  Ring& operator=(Ring&&) = default;

  uint32_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  T& operator[](uint32_t i) { return items_[(head_ + i) & (capacity_ - 1)]; }
  const T& operator[](uint32_t i) const { return items_[(head_ + i) & (capacity_ - 1)]; }
  T& front() { return items_[head_]; }
  const T& front() const { return items_[head_]; }
  const T& back() const { return (*this)[count_ - 1]; }

  void PushBack(const T& item) { Insert(count_, item); }
  void PushFront(const T& item) { Insert(0, item); }
  void PopFront() {
    head_ = (head_ + 1) & (capacity_ - 1);
    --count_;
  }

  /// Puts `item` before the one at `at`; at == size() appends.
  void Insert(uint32_t at, const T& item) {
    if (count_ == capacity_) [[unlikely]]
      Grow();
    ++count_;
    if (at > (count_ - 1) / 2 || at == count_ - 1) {
      for (uint32_t i = count_ - 1; i > at; --i) (*this)[i] = (*this)[i - 1];
    } else {
      head_ = (head_ - 1) & (capacity_ - 1);
      for (uint32_t i = 0; i < at; ++i) (*this)[i] = (*this)[i + 1];
    }
    (*this)[at] = item;
  }
  void Erase(uint32_t at) {
    if (at < count_ / 2) {
      for (uint32_t i = at; i > 0; --i) (*this)[i] = (*this)[i - 1];
      head_ = (head_ + 1) & (capacity_ - 1);
    } else {
      for (uint32_t i = at; i + 1 < count_; ++i) (*this)[i] = (*this)[i + 1];
    }
    --count_;
  }

 private:
  void Grow() {
    const uint32_t capacity = capacity_ == 0 ? 2 : capacity_ * 2;
    auto items = std::make_unique_for_overwrite<T[]>(capacity);
    for (uint32_t i = 0; i < count_; ++i) items[i] = (*this)[i];
    items_ = std::move(items);
    capacity_ = capacity;
    head_ = 0;
  }

  std::unique_ptr<T[]> items_;
  uint32_t capacity_ = 0;  // a power of two, or 0
  uint32_t head_ = 0;
  uint32_t count_ = 0;
};

/// Numbers in order, each with a value. Adding behind the last, removing the first, and finding
/// where there are no holes take constant time.
class SortedRing {
 public:
  struct Item {
    uint32_t key = 0;
    uint32_t value = 0;
  };

  uint32_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  const Item& operator[](uint32_t at) const { return items_[at]; }

  /// Position of the first item whose key is not less than `key`; size(): there is none.
  uint32_t LowerBound(uint32_t key) const {
    const uint32_t count = items_.size();
    if (count == 0 || items_.back().key < key) return count;
    const uint32_t first = items_.front().key;
    if (key <= first) return 0;
    // Keys without holes: the place is known by arithmetic, from either end.
    const uint32_t from_first = key - first;
    if (from_first < count && items_[from_first].key == key) return from_first;
    const uint32_t to_last = items_.back().key - key;
    if (to_last < count && items_[count - 1 - to_last].key == key) return count - 1 - to_last;
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
  /// Whether the item at a position that LowerBound gave has the key.
  bool Holds(uint32_t at, uint32_t key) const { return at < size() && items_[at].key == key; }

  /// @param at from LowerBound, for a key that is not there
  void Insert(uint32_t at, Item item) { items_.Insert(at, item); }
  void Erase(uint32_t at) { items_.Erase(at); }

 private:
  Ring<Item> items_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SORTED_RING_H_
