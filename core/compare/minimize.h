#ifndef RINGSCOPE_CORE_COMPARE_MINIMIZE_H_
#define RINGSCOPE_CORE_COMPARE_MINIMIZE_H_

#include <cstddef>
#include <functional>
#include <vector>

#include "core/compare/stored_ops.h"

namespace ringscope {

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
