#ifndef RINGSCOPE_CORE_BASE_KEY_INDEX_H_
#define RINGSCOPE_CORE_BASE_KEY_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/ids.h"

namespace ringscope {

/// From a sequence to a number: a flat hash table (open addressing, linear probing) of 8 bytes per
/// slot, as logs with millions of short-lived sequences exist. Nothing is ever removed.
class KeyIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t Find(SequenceKey key) const {
    if (slots_.empty()) return kNone;
    const uint32_t packed = key.Packed();
    for (size_t i = Hash(packed);; i = (i + 1) & mask_) {
      if (slots_[i].key == packed && slots_[i].value != kNone) return slots_[i].value;
      if (slots_[i].value == kNone) return kNone;
    }
  }

  /// The key must be new.
  void Insert(SequenceKey key, uint32_t value) {
    if (slots_.empty() || (used_ + 1) * 3 > slots_.size() * 2) Grow();
    Place({key.Packed(), value});
    ++used_;
  }

  size_t size() const { return used_; }

 private:
  struct Slot {
    uint32_t key = 0;
    uint32_t value = kNone;
  };

  size_t Hash(uint32_t key) const { return (key * uint64_t{0x9E3779B97F4A7C15} >> 32) & mask_; }

  void Place(Slot slot) {
    size_t i = Hash(slot.key);
    while (slots_[i].value != kNone) i = (i + 1) & mask_;
    slots_[i] = slot;
  }

  void Grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old)
      if (slot.value != kNone) Place(slot);
  }

  std::vector<Slot> slots_;
  size_t mask_ = 0;
  size_t used_ = 0;
};

/// Grows in blocks: elements never move, and there is no doubling.
template <typename T>
class StableVector {
 public:
  StableVector() = default;
  StableVector(const StableVector& other) { *this = other; }
  StableVector(StableVector&& other) noexcept
      : blocks_(std::move(other.blocks_)), size_(std::exchange(other.size_, 0)) {}
  StableVector& operator=(const StableVector& other) {
    if (this == &other) return *this;
    blocks_.clear();
    for (const auto& block : other.blocks_) blocks_.push_back(std::make_unique<Block>(*block));
    size_ = other.size_;
    return *this;
  }
  StableVector& operator=(StableVector&& other) noexcept {
    blocks_ = std::move(other.blocks_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  T& operator[](size_t i) { return blocks_[i >> kShift]->items[i & kMask]; }
  const T& operator[](size_t i) const { return blocks_[i >> kShift]->items[i & kMask]; }
  size_t size() const { return size_; }

  T& emplace_back() {
    if (size_ >> kShift == blocks_.size()) blocks_.push_back(std::make_unique<Block>());
    return (*this)[size_++];
  }

 private:
  static constexpr size_t kShift = 6;
  static constexpr size_t kMask = (size_t{1} << kShift) - 1;
  struct Block {
    T items[kMask + 1]{};
  };
  std::vector<std::unique_ptr<Block>> blocks_;
  size_t size_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_BASE_KEY_INDEX_H_
