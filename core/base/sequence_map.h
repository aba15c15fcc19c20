#ifndef RINGSCOPE_CORE_BASE_SEQUENCE_MAP_H_
#define RINGSCOPE_CORE_BASE_SEQUENCE_MAP_H_

#include <cstddef>
#include <cstdint>

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

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_BASE_SEQUENCE_MAP_H_
