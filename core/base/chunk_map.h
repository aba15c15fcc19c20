#ifndef RINGSCOPE_CORE_BASE_CHUNK_MAP_H_
#define RINGSCOPE_CORE_BASE_CHUNK_MAP_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/key_index.h"

namespace ringscope {

/// One value for each of some chunks, which come and go: a flat hash table (open addressing, linear
/// probing) of 12 bytes per slot, beside the values. Values never move, and their memory is used
/// again.
template <typename T>
class ChunkMap {
 public:
  /// nullptr: the chunk has no value.
  T* Find(ChunkName chunk) {
    const size_t at = SlotOf(chunk);
    return at == kAbsent ? nullptr : &values_[slots_[at].value];
  }
  const T* Find(ChunkName chunk) const { return const_cast<ChunkMap*>(this)->Find(chunk); }
  /// The chunk's value, which is made if it has none. @return and whether it was made
  std::pair<T&, bool> Add(ChunkName chunk) {
    if (T* found = Find(chunk)) return {*found, false};
    if ((used_ + 1) * 2 > slots_.size()) Grow();
    const uint32_t value = TakeValue();
    Place({chunk, value});
    ++used_;
    return {values_[value], true};
  }
  /// The chunk must have a value.
  void Erase(ChunkName chunk) {
    size_t hole = SlotOf(chunk);
    const uint32_t value = slots_[hole].value;
    // What follows, up to the next empty slot, moves up as far as its own place allows.
    for (size_t next = Next(hole); slots_[next].value != kNone; next = Next(next)) {
      const size_t home = HomeOf(slots_[next].key);
      const bool stays = ((next - home) & mask_) < ((next - hole) & mask_);
      if (stays) continue;
      slots_[hole] = slots_[next];
      hole = next;
    }
    slots_[hole].value = kNone;
    values_[value] = T();
    free_.push_back(value);
    --used_;
  }
  size_t size() const { return used_; }
  /// Calls `visit(ChunkName, T&)` for each chunk, in no order. Nothing may be added or erased.
  template <typename Visit>
  void ForEach(Visit visit) {
    for (const Slot& slot : slots_)
      if (slot.value != kNone) visit(slot.key, values_[slot.value]);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr size_t kAbsent = SIZE_MAX;
  struct Slot {
    ChunkName key;
    uint32_t value = kNone;
  };

  /// Where a key is, if nothing is in its way: the product's upper bits depend on all of the key's.
  size_t HomeOf(ChunkName key) const { return (key.Packed() * 0x9E3779B97F4A7C15) >> shift_; }
  size_t Next(size_t slot) const { return (slot + 1) & mask_; }

  size_t SlotOf(ChunkName chunk) const {
    if (slots_.empty()) return kAbsent;
    for (size_t at = HomeOf(chunk); slots_[at].value != kNone; at = Next(at))
      if (slots_[at].key == chunk) return at;
    return kAbsent;
  }

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

  uint32_t TakeValue() {
    if (free_.empty()) {
      values_.emplace_back();
      return static_cast<uint32_t>(values_.size() - 1);
    }
    const uint32_t value = free_.back();
    free_.pop_back();
    return value;
  }

  std::vector<Slot> slots_;
  StableVector<T> values_;
  std::vector<uint32_t> free_;  // of these
  size_t mask_ = 0;
  int shift_ = 0;
  size_t used_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_BASE_CHUNK_MAP_H_
