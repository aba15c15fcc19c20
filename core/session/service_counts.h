#ifndef RINGSCOPE_CORE_SESSION_SERVICE_COUNTS_H_
#define RINGSCOPE_CORE_SESSION_SERVICE_COUNTS_H_

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "core/log/flush_tracker.h"
#include "core/log/op.h"
#include "core/perfetto/trace_stats.h"

namespace ringscope {

/// Counters of the service's sessions, data sources and flushes, whatever becomes of the buffers: a
/// part of TraceStats.
class ServiceCounts {
 public:
  void Apply(const Op& op);
  /// The log is at its end.
  void Finish() { flushes_.Finish(); }
  /// Puts the counts into their places.
  void Fill(ServiceStats& stats) const;

 private:
  FlushTracker flushes_;
  std::set<std::pair<ProducerId, std::string>> data_sources_;  // registered
  uint64_t last_instance_ = 0;                                 // of a data source
  uint64_t sessions_ = 0;                                      // open
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_SERVICE_COUNTS_H_
