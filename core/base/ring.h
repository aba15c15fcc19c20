#ifndef RINGSCOPE_CORE_BASE_RING_H_
#define RINGSCOPE_CORE_BASE_RING_H_

#include <cstdint>
#include <vector>

namespace ringscope {

/// Names an item for as long as it is in its ring; wraps.
using RingRef = uint32_t;

/// Items that are added at both ends and taken from the front. References stay valid as it grows.
template <typename T>
class Ring {
 public:
  T& operator[](RingRef ref) { return slots_[ref & mask_]; }
  const T& operator[](RingRef ref) const { return slots_[ref & mask_]; }

  RingRef begin() const { return head_; }
  RingRef end() const { return tail_; }
  bool empty() const { return head_ == tail_; }
  uint32_t size() const { return tail_ - head_; }

  RingRef PushBack(const T& item) {
    if (size() == slots_.size()) [[unlikely]]
      Grow();
    slots_[tail_ & mask_] = item;
    return tail_++;
  }
  void PushFront(const T& item) {
    if (size() == slots_.size()) [[unlikely]]
      Grow();
    slots_[--head_ & mask_] = item;
  }
  void PopFront() { ++head_; }

 private:
  void Grow() {
    std::vector<T> old(slots_.empty() ? 64 : slots_.size() * 2);
    old.swap(slots_);
    const auto old_mask = mask_;
    mask_ = static_cast<uint32_t>(slots_.size() - 1);
    for (RingRef ref = head_; ref != tail_; ++ref) slots_[ref & mask_] = old[ref & old_mask];
  }

  std::vector<T> slots_;  // a power of two, once it has any
  uint32_t mask_ = 0;
  RingRef head_ = 0;
  RingRef tail_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_BASE_RING_H_
