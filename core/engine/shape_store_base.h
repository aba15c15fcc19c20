#ifndef RINGSCOPE_CORE_ENGINE_SHAPE_STORE_BASE_H_
#define RINGSCOPE_CORE_ENGINE_SHAPE_STORE_BASE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/engine/chunk_shape.h"
#include "core/engine/shape_engine.h"
#include "core/engine/shape_tally.h"

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
  void Add(std::span<const ShapeFragment> fragments) {
    while (fragments_.size() - (tail_ - head_) < fragments.size()) [[unlikely]] Grow();
    const uint64_t at = tail_ & mask_;
    const size_t to_end = std::min(fragments.size(), fragments_.size() - at);
    std::ranges::copy(fragments.first(to_end), fragments_.begin() + static_cast<ptrdiff_t>(at));
    std::ranges::copy(fragments.subspan(to_end), fragments_.begin());
    tail_ += fragments.size();
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

/// What the stores of all versions have in common that keep only the shapes of payloads. Where a
/// decision would need the bytes themselves, they report that: `problem`; what the buffer does from
/// there on means nothing.
class ShapeStoreBase {
 public:
  static constexpr bool kHasBytes = false;
  using Interface = ShapeEngine;  // of a buffer with this store

  /// @param tally counts what is lost; must outlive this
  explicit ShapeStoreBase(ShapeTally& tally) : tally_(&tally) {}

  /// What the commit under way has in place of a payload; must outlive it.
  void SetIncoming(const ChunkShape& shape) { incoming_ = &shape; }
  const ChunkShape& incoming() const { return *incoming_; }
  uint32_t PayloadSize(const ChunkCommit&) const { return incoming_->payload_size; }
  /// Traits of the packet whose first fragment was read last.
  uint8_t traits() const { return traits_; }
  ShapeTally& tally() { return *tally_; }
  const char* problem() const { return problem_; }
  void SetProblem(const char* problem) {
    if (problem_ == nullptr) problem_ = problem;
  }

 protected:
  FragmentRing fragments_;
  const ChunkShape* incoming_ = nullptr;
  uint8_t traits_ = 0;

 private:
  ShapeTally* tally_;
  const char* problem_ = nullptr;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_ENGINE_SHAPE_STORE_BASE_H_
