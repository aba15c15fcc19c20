#ifndef RINGSCOPE_CORE_LOG_LOG_RANGE_H_
#define RINGSCOPE_CORE_LOG_LOG_RANGE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/ids.h"

namespace ringscope {

/// A point of a session's time.
struct TimePoint {
  uint64_t ns = 0;
  bool relative = false;  // to the session's start

  /// Returns ns of the log's clock; UINT64_MAX where the sum is larger.
  constexpr uint64_t Absolute(uint64_t start_ns) const {
    if (!relative) return ns;
    return ns > UINT64_MAX - start_ns ? UINT64_MAX : start_ns + ns;
  }
};

/// Record numbers, both ends included.
struct RecordRange {
  uint64_t first = 0;
  uint64_t last = UINT64_MAX;
};

/// Sequences, buffers and times of a log; an empty list selects all.
struct LogSelection {
  std::vector<SequenceKey> sequences;
  std::vector<BufferId> buffers;
  std::optional<TimePoint> from;
  std::optional<TimePoint> to;  // included
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_LOG_RANGE_H_
