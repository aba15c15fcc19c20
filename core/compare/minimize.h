#ifndef RINGSCOPE_CORE_COMPARE_MINIMIZE_H_
#define RINGSCOPE_CORE_COMPARE_MINIMIZE_H_

#include "core/compare/stream_notation.h"

namespace ringscope {

/// Returns true if operations show a difference.
using ShowsDifference = std::function<bool(const std::vector<StoredOp>&)>;

/// Makes operations as few and small as they can be and still show the difference: takes operations
/// away, then fragments, bytes, flags, patches, limits and times; numbers producers, writers and
/// chunks from the start; takes smaller buffers. Commits of several chunks and patches are taken
/// apart first. Deterministic, unless it is stopped.
/// @param ops shows the difference
/// @param stop asked between tries; true ends early. May be empty
std::vector<StoredOp> Minimize(std::vector<StoredOp> ops, ShowsDifference shows,
                               std::function<bool()> stop = {});

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_MINIMIZE_H_
