#ifndef RINGSCOPE_CORE_DOCTOR_TRACE_SIZES_H_
#define RINGSCOPE_CORE_DOCTOR_TRACE_SIZES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/doctor/finding.h"

namespace ringscope {

// Buffer sizes for a session of which only a trace is left. What its buffers lost is not in it, so
// that no replay can try sizes: they are estimated from the trace's statistics.

/// A buffer, by the statistics of the trace.
struct EstimatedBuffer {
  uint32_t index = 0;  // in the config
  FillPolicy policy = FillPolicy::kRingBuffer;
  uint64_t size = 0;  // bytes
  std::optional<uint64_t> written =
      {};             // bytes that came to it; absent: the trace has no statistics
  uint64_t lost = 0;  // of these, bytes overwritten unread, or discarded
  std::optional<uint64_t> reach_ns =
      {};                // how far a full ring reaches back, at the session's mean rate
  uint64_t planned = 0;  // bytes
  std::optional<uint64_t> planned_reach_ns = {};
};

struct TraceSizes {
  std::vector<EstimatedBuffer> buffers;  // by index
  std::vector<ConfigChange> changes;     // of sizes, and all others of the diagnosis

  uint64_t TotalSize() const;
  uint64_t TotalPlanned() const;
};

/// Sizes for such a session.
/// @param diagnosis of the same trace
/// @param keep_ns how far back rings are to reach; absent: to all of it
TraceSizes EstimateSizes(const TraceFacts& facts, const Diagnosis& diagnosis,
                         std::optional<uint64_t> keep_ns);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_DOCTOR_TRACE_SIZES_H_
