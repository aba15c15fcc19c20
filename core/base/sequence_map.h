#ifndef RINGSCOPE_CORE_BASE_SEQUENCE_MAP_H_
#define RINGSCOPE_CORE_BASE_SEQUENCE_MAP_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/ids.h"

namespace ringscope {

/// From keys to numbers: a flat hash table (open addressing, linear probing) of 4 bytes per slot
/// beside the key, as logs with millions of short-lived sequences exist.
/// @tparam Key has Packed(), a number
template <typename Key>
class FlatIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// Returns the key's number, or kNone.
  uint32_t Find(Key key) const {
    if (slots_.empty()) return kNone;
    size_t at = HomeOf(key);
    while (slots_[at].value != kNone && !(slots_[at].key == key)) at = Next(at);
    return slots_[at].value;
  }
  /// The key must be new.
  void Insert(Key key, uint32_t value) {
    if (slots_.empty() || (used_ + 1) * 3 > slots_.size() * 2) Grow();
    Place({key, value});
    ++used_;
  }
  /// Removes a key, which must be there. @return its number
  uint32_t Erase(Key key) {
    size_t hole = HomeOf(key);
    while (!(slots_[hole].key == key)) hole = Next(hole);
    const uint32_t value = slots_[hole].value;
    // The slots that follow, up to an empty one, move up as far as their own places allow.
    for (size_t next = Next(hole); slots_[next].value != kNone; next = Next(next)) {
      const size_t home = HomeOf(slots_[next].key);
      const bool stays = ((next - home) & mask_) < ((next - hole) & mask_);
      if (stays) continue;
      slots_[hole] = slots_[next];
      hole = next;
    }
    slots_[hole].value = kNone;
    --used_;
    return value;
  }

  size_t size() const { return used_; }
  /// Calls `visit(Key, number)` for each key, in no order. Nothing may be inserted or erased.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const Slot& slot : slots_)
      if (slot.value != kNone) visit(slot.key, slot.value);
  }

 private:
  struct Slot {
    Key key{};
    uint32_t value = kNone;
  };

  /// The place of a key, if it is free: the product's upper bits depend on all of the key's.
  size_t HomeOf(Key key) const { return (uint64_t{key.Packed()} * 0x9E3779B97F4A7C15) >> shift_; }
  size_t Next(size_t slot) const { return (slot + 1) & mask_; }

  void Place(Slot slot) {
    size_t at = HomeOf(slot.key);
    while (slots_[at].value != kNone) at = Next(at);
    slots_[at] = slot;
  }

  void Grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    shift_ = std::countl_zero(mask_);
    for (const Slot& slot : old)
      if (slot.value != kNone) Place(slot);
  }

  std::vector<Slot> slots_;
  size_t mask_ = 0;
  int shift_ = 0;
  size_t used_ = 0;
};

using KeyIndex = FlatIndex<SequenceKey>;

/// Grows in blocks: elements never move, and there is no doubling.
template <typename T>
class StableVector {
 public:
  T& operator[](size_t i) { return blocks_[i >> kShift][i & kMask]; }
  const T& operator[](size_t i) const { return blocks_[i >> kShift][i & kMask]; }
  size_t size() const {
    return blocks_.empty() ? 0 : ((blocks_.size() - 1) << kShift) + blocks_.back().size();
  }

  T& emplace_back() {
    if ((size() & kMask) == 0) blocks_.emplace_back();
    return blocks_.back().emplace_back();
  }

 private:
  static constexpr size_t kShift = 6;
  static constexpr size_t kMask = (size_t{1} << kShift) - 1;
  struct Block : std::vector<T> {
    Block() { this->reserve(kMask + 1); }
    Block(const Block& other) : Block() { *this = other; }
    Block(Block&&) noexcept = default;
    Block& operator=(const Block&) = default;  // keeps what is reserved
  };
  std::vector<Block> blocks_;
};

/// One value for each sequence, in order of first use. Values never move and are never removed;
/// logs with millions of short-lived sequences exist.
template <typename T>
class SequenceMap {
 public:
  struct Entry {
    SequenceKey key;
    T value;
  };

  /// Returns the sequence's value, which is made if it is new.
  T& operator[](SequenceKey key) {
    uint32_t slot = slots_.Find(key);
    if (slot == KeyIndex::kNone) {
      slot = static_cast<uint32_t>(entries_.size());
      slots_.Insert(key, slot);
      entries_.emplace_back().key = key;
    }
    return entries_[slot].value;
  }
  /// Returns nullptr if the sequence has no value.
  T* Find(SequenceKey key) {
    const uint32_t slot = slots_.Find(key);
    return slot == KeyIndex::kNone ? nullptr : &entries_[slot].value;
  }
  const T* Find(SequenceKey key) const { return const_cast<SequenceMap*>(this)->Find(key); }

  size_t size() const { return entries_.size(); }
  /// The n-th sequence that was used, from 0, and its value.
  Entry& At(size_t n) { return entries_[n]; }
  const Entry& At(size_t n) const { return entries_[n]; }

 private:
  KeyIndex slots_;
  StableVector<Entry> entries_;
};

/// One value for each of some chunks, which come and go. Values never move, and their memory is
/// used again.
template <typename T>
class ChunkMap {
 public:
  /// Returns nullptr if the chunk has no value.
  T* Find(ChunkName chunk) {
    const uint32_t at = index_.Find(chunk);
    return at == Index::kNone ? nullptr : &values_[at];
  }
  const T* Find(ChunkName chunk) const { return const_cast<ChunkMap*>(this)->Find(chunk); }
  /// Returns the chunk's value, which is made if it has none, and whether it was made.
  std::pair<T&, bool> Add(ChunkName chunk) {
    if (T* found = Find(chunk)) return {*found, false};
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(values_.size()));
      values_.emplace_back();
    }
    index_.Insert(chunk, free_.back());
    T& value = values_[free_.back()];
    free_.pop_back();
    return {value, true};
  }
  /// The chunk must have a value.
  void Erase(ChunkName chunk) {
    const uint32_t at = index_.Erase(chunk);
    values_[at] = T();
    free_.push_back(at);
  }
  size_t size() const { return index_.size(); }
  /// Calls `visit(ChunkName, T&)` for each chunk, in no order. Nothing may be added or erased.
  template <typename Visit>
  void ForEach(Visit visit) {
    index_.ForEach([&](ChunkName chunk, uint32_t at) { visit(chunk, values_[at]); });
  }

 private:
  using Index = FlatIndex<ChunkName>;

  Index index_;  // into values_
  StableVector<T> values_;
  std::vector<uint32_t> free_;  // of these
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_BASE_SEQUENCE_MAP_H_
