#ifndef RINGSCOPE_CORE_SWEEP_SIZE_SEARCH_H_
#define RINGSCOPE_CORE_SWEEP_SIZE_SEARCH_H_

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"

namespace ringscope {

/// The largest size that is tried for a buffer.
inline constexpr uint64_t kMaxTriedSize = uint64_t{2} << 30;

/// Bytes, by buffer.
using BufferSizes = std::map<BufferId, uint64_t>;

/// Result of a replay for a buffer.
struct TriedSize {
  bool meets = false;  // the buffer is large enough
  uint64_t lost = 0;   // packets
};

/// A search for the smallest buffers that are large enough.
struct SizeSearch {
  /// The buffers, with the sizes to try first. Empty: the largest size that makes a difference.
  std::map<BufferId, std::vector<uint64_t>> first;
  /// Bytes of all commits: no buffer needs four times as much.
  uint64_t commit_bytes = kMaxTriedSize;
  /// Replays the session with each of these sizes.
  std::function<Result<std::vector<std::map<BufferId, TriedSize>>>(const std::vector<BufferSizes>&)>
      replay;
};

/// The result for one buffer.
struct SizeFound {
  /// The smallest size in whole pages: a page less was replayed, and is too small. nullopt: none is
  /// large enough.
  std::optional<uint64_t> size;
  uint64_t best = 0;  // that size; if there is none, the smallest that loses as little as any
};

/// Finds the smallest sizes of all buffers at once: what a buffer keeps does not depend on the
/// others.
Result<std::map<BufferId, SizeFound>> FindSmallestSizes(const SizeSearch& search);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_SIZE_SEARCH_H_
