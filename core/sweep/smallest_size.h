#ifndef RINGSCOPE_CORE_SWEEP_SMALLEST_SIZE_H_
#define RINGSCOPE_CORE_SWEEP_SMALLEST_SIZE_H_

#include "core/sweep/sweep.h"

namespace ringscope {

/// The largest size that is tried for a buffer.
inline constexpr uint64_t kMaxTriedSize = uint64_t{2} << 30;

/// Bytes, by buffer.
using BufferSizes = std::map<BufferId, uint64_t>;

/// Result of the replay of one size of a buffer.
struct TriedSize {
  bool meets = false;      // the buffer is large enough
  uint64_t lost = 0;       // packets
  uint64_t same_from = 0;  // bytes: the smallest size of which a replay shows the same
  bool is_least = false;   // the replay proves that a page less than that is not large enough
  uint64_t estimate = 0;   // bytes: what is large enough by arithmetic; 0: not known
};

/// A buffer that is to be as small as it can be.
struct SizeGoal {
  BufferId buffer{};
  /// The sizes to try first, ascending. Empty: the largest one that makes a difference.
  std::vector<uint64_t> first;
  std::function<TriedSize(const SweepRow&)> judge;
  uint64_t too_small = 0;         // bytes: a size that is known to be so; 0: none is
  bool with_recommended = false;  // the size to recommend is tried beside an estimate
};

/// The smallest size for a goal.
struct SizeFound {
  /// In whole pages: a page less is too small, by a replay or by proof. nullopt if no size is large
  /// enough.
  std::optional<uint64_t> size;
  uint64_t best = 0;  // that size; if there is none, the smallest that loses as little as any
};

/// Replays the session with each of these sizes. Called once for each pass.
using TrySizes =
    std::function<Result<std::vector<std::vector<SweepRow>>>(const std::vector<BufferSizes>&)>;

/// Finds the smallest sizes for all goals at once: what a buffer keeps does not depend on the
/// others, and each replay of a buffer shows something to all of its goals. Takes one pass where
/// the first sizes are those that are looked for, with a page less; two where the estimate of the
/// largest of them is.
/// @param commit_bytes of all commits: no buffer needs four times as much
/// @return one for each goal
Result<std::vector<SizeFound>> FindSmallestSizes(std::span<const SizeGoal> goals,
                                                 uint64_t commit_bytes, const TrySizes& replay);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_SMALLEST_SIZE_H_
