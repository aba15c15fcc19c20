#ifndef RINGSCOPE_CORE_COMPARE_MINIMIZE_H_
#define RINGSCOPE_CORE_COMPARE_MINIMIZE_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "core/compare/stored_ops.h"

namespace ringscope {

/// Takes blocks out of a list, halving their size, the last block first, and at the end single
/// elements, until none can go.
/// @param list is read again after each call of `keep`
/// @param keep (std::vector<T>) takes a shorter list over, and returns true, if that shows the same
/// @param stop () returns true to end early
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

struct MinimizeInput {
  std::vector<StoredOp> ops;  // shows the difference
  /// Returns true if operations still show the difference.
  std::function<bool(const std::vector<StoredOp>&)> shows;
  /// Asked between tries; true ends early. May be empty.
  std::function<bool()> stop = {};
  /// Called with the number of operations that are left. May be empty.
  std::function<void(size_t)> progress = {};
};

/// Makes operations as few and small as they can be and still show the difference: takes operations
/// away, then fragments, bytes, flags, patches, limits and times; numbers producers, writers and
/// chunks from the start; takes smaller buffers. Commits of several chunks and patches are taken
/// apart first. Deterministic, unless it is stopped.
std::vector<StoredOp> Minimize(MinimizeInput input);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_MINIMIZE_H_
