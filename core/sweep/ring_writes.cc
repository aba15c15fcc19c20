#include "core/sweep/ring_writes.h"

#include <algorithm>

#include "core/perfetto/chunk.h"

namespace ringscope {

uint64_t RingWrites::SizeToKeep() const {
  size_t first = chunks_.size();
  for (size_t i = 0; i < kept_from_.size(); ++i)
    first = std::min(first, kept_from_.At(i).value.value_or(first));
  return SizeFrom(first, {});
}

uint64_t RingWrites::SizeFrom(size_t first, const std::vector<size_t>& reads) const {
  uint64_t size = std::max(PagesUp(HeldBy(UINT64_MAX, first, reads)), kPageBytes);
  // Where a ring wraps, it may leave nearly as much as its largest chunk unused.
  while (HeldBy(size, first, reads) > size) size += kPageBytes;
  return size;
}

/// The most bytes of a ring of this size that unread chunks occupy at once, with the space between
/// them that is left unused. @param first earlier chunks do not count
uint64_t RingWrites::HeldBy(uint64_t size, size_t first, const std::vector<size_t>& reads) const {
  uint64_t at = 0, held = 0, most = 0;
  auto read = reads.begin();
  for (size_t i = 0; i < chunks_.size(); ++i) {
    if (i <= first) held = 0;
    for (; read != reads.end() && *read <= i; ++read) held = 0;
    const bool wraps = chunks_[i] > size - at;
    held += chunks_[i] + (wraps && held > 0 ? size - at : 0);
    at = (wraps ? 0 : at) + chunks_[i];
    most = std::max(most, held);
  }
  return most;
}

}  // namespace ringscope
