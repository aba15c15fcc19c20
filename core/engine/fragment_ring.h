#ifndef RINGSCOPE_CORE_ENGINE_FRAGMENT_RING_H_
#define RINGSCOPE_CORE_ENGINE_FRAGMENT_RING_H_

#include <cstdint>
#include <vector>

#include "core/engine/chunk_shape.h"

namespace ringscope {

/// The fragments of the chunks in a buffer without payloads, oldest first. Each has a number, which
/// stays as the ring grows.
class FragmentRing {
 public:
  const ShapeFragment& operator[](uint64_t i) const { return fragments_[i & mask_]; }
  /// The number of the fragment that is added next.
  uint64_t end() const { return tail_; }
  uint64_t begin() const { return head_; }

  void Add(ShapeFragment fragment) {
    if (tail_ - head_ == fragments_.size()) [[unlikely]]
      Grow();
    fragments_[tail_++ & mask_] = fragment;
  }
  /// Fragments before this number are not needed any more.
  void FreeBefore(uint64_t i) {
    if (i > head_) head_ = i;
  }

 private:
  void Grow() {
    std::vector<ShapeFragment> old(fragments_.empty() ? 256 : fragments_.size() * 2);
    old.swap(fragments_);
    const uint64_t old_mask = mask_;
    mask_ = fragments_.size() - 1;
    for (uint64_t i = head_; i != tail_; ++i) fragments_[i & mask_] = old[i & old_mask];
  }

  std::vector<ShapeFragment> fragments_;  // a power of two, once it has any
  uint64_t mask_ = 0;
  uint64_t head_ = 0;
  uint64_t tail_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_ENGINE_FRAGMENT_RING_H_
