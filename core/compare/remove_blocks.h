#ifndef RINGSCOPE_CORE_COMPARE_REMOVE_BLOCKS_H_
#define RINGSCOPE_CORE_COMPARE_REMOVE_BLOCKS_H_

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ringscope {

/// Delta debugging: takes out blocks of a list, halving their size, the last block first, as what
/// comes later depends on what was before; at the end single elements, until none can go.
/// @param list is read again after each call of `keep`
/// @param keep (std::vector<T>) takes a shorter list over, and returns true, if that shows the same
/// @param stop () whether to end early
template <typename T, typename Keep, typename Stop>
void RemoveBlocks(const std::vector<T>& list, Keep keep, Stop stop) {
  const auto remove_each = [&](size_t block) {
    bool removed = false;
    for (size_t end = list.size(); end > 0 && !stop();) {
      const size_t begin = end > block ? end - block : 0;
      std::vector<T> rest;
      rest.reserve(list.size());
      rest.insert(rest.end(), list.begin(), list.begin() + static_cast<std::ptrdiff_t>(begin));
      rest.insert(rest.end(), list.begin() + static_cast<std::ptrdiff_t>(end), list.end());
      removed |= keep(std::move(rest));
      end = std::min(begin, list.size());
    }
    return removed;
  };
  size_t block = std::max<size_t>(1, list.size() / 2);
  while (!stop()) {
    const bool removed = remove_each(block);
    if (block == 1 && !removed) return;
    if (!removed) block = std::max<size_t>(1, block / 2);
    block = std::min(block, std::max<size_t>(1, list.size()));
  }
}

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_REMOVE_BLOCKS_H_
