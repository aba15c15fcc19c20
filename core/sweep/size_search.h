#ifndef RINGSCOPE_CORE_SWEEP_SIZE_SEARCH_H_
#define RINGSCOPE_CORE_SWEEP_SIZE_SEARCH_H_

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "core/sweep/sweep.h"

namespace ringscope {

/// The largest size that is tried for a buffer.
inline constexpr uint64_t kMaxTriedSize = uint64_t{2} << 30;

/// A search for the smallest buffers that do.
struct SizeSearch {
  /// The setting, and what is fixed: the sizes of all buffers that are not searched for.
  SweepConfig config;
  /// The buffers, with the sizes to try first, ascending.
  std::map<BufferId, std::vector<uint64_t>> first;
  /// Whether a buffer of this size does.
  std::function<bool(const SweepRow&)> meets;
  /// Gets all that is tried.
  std::function<void(const SweepConfig&, const std::vector<SweepRow>&)> tried = [](auto&&...) {};
};

/// The result for one buffer.
struct SizeFound {
  /// The smallest size in whole pages: a page less was tried, and does not do. nullopt: none does.
  std::optional<uint64_t> size;
  /// With that size; if none does, with the smallest size that loses as little as any.
  SweepRow row;
};

/// Finds the smallest sizes of all buffers at once: what a buffer keeps does not depend on the
/// others. Each pass over the session splits what is left into four parts.
Result<std::map<BufferId, SizeFound>> FindSmallestSizes(Sweep& sweep, const SizeSearch& search);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_SIZE_SEARCH_H_
