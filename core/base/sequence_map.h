#ifndef RINGSCOPE_CORE_BASE_SEQUENCE_MAP_H_
#define RINGSCOPE_CORE_BASE_SEQUENCE_MAP_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/key_index.h"

namespace ringscope {

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
  const T* Find(SequenceKey key) const {
    const uint32_t slot = slots_.Find(key);
    return slot == KeyIndex::kNone ? nullptr : &entries_[slot].value;
  }

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
    const uint32_t at = TakeValue();
    index_.Insert(chunk, at);
    return {values_[at], true};
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

  uint32_t TakeValue() {
    if (free_.empty()) {
      values_.emplace_back();
      return static_cast<uint32_t>(values_.size() - 1);
    }
    const uint32_t value = free_.back();
    free_.pop_back();
    return value;
  }

  Index index_;  // into values_
  StableVector<T> values_;
  std::vector<uint32_t> free_;  // of these
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_BASE_SEQUENCE_MAP_H_
