#ifndef RINGSCOPE_CORE_BASE_REUSED_MEMORY_H_
#define RINGSCOPE_CORE_BASE_REUSED_MEMORY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/ids.h"

namespace ringscope {

/// Copies of bytes; they stay where they are until all are cleared.
class ByteCopies {
 public:
  Bytes Copy(Bytes bytes) {
    if (bytes.empty()) return {};
    if (block_ == blocks_.size() || blocks_[block_].size() - used_ < bytes.size())
      Grow(bytes.size());
    uint8_t* const to = blocks_[block_].data() + used_;
    std::memcpy(to, bytes.data(), bytes.size());
    used_ += bytes.size();
    copied_ += bytes.size();
    return {to, bytes.size()};
  }
  size_t copied() const { return copied_; }
  void Clear() { block_ = used_ = copied_ = 0; }

 private:
  static constexpr size_t kBlock = size_t{256} << 10;

  void Grow(size_t wanted) {
    if (block_ < blocks_.size()) ++block_;
    used_ = 0;
    if (block_ == blocks_.size()) blocks_.emplace_back();
    if (blocks_[block_].size() < wanted) blocks_[block_].resize(std::max(wanted, kBlock));
  }

  std::vector<std::vector<uint8_t>> blocks_;
  size_t block_ = 0;   // that is filled
  size_t used_ = 0;    // bytes of it
  size_t copied_ = 0;  // bytes of all
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_BASE_REUSED_MEMORY_H_
