#ifndef RINGSCOPE_CORE_GRAPH_MOMENT_WATCH_H_
#define RINGSCOPE_CORE_GRAPH_MOMENT_WATCH_H_

#include <cstdint>
#include <optional>

#include "core/base/log_moment.h"
#include "core/log/op.h"

namespace ringscope {

/// A moment of a log: after this record, or after the last one within this time of the first; by
/// default the end of the log.
struct LayoutMoment {
  std::optional<uint64_t> record;
  std::optional<uint64_t> offset_ns;
};

/// Finds that moment in a replay.
class MomentWatch {
 public:
  explicit MomentWatch(LayoutMoment moment) : moment_(moment) {}

  /// Returns true if this record, which is not applied yet, is the first after the moment.
  bool Passes(const Op& op, const LogMoment& now) {
    if (has_passed_) return false;
    if (!first_time_ns_) first_time_ns_ = op.time_ns;
    has_passed_ = (moment_.record && *now.record > *moment_.record) ||
                  (moment_.offset_ns && op.time_ns && *op.time_ns > *first_time_ns_ &&
                   *op.time_ns - *first_time_ns_ > *moment_.offset_ns);
    if (!has_passed_) at_ = now;
    return has_passed_;
  }
  bool has_passed() const { return has_passed_; }
  /// The last record before the moment.
  const LogMoment& at() const { return at_; }

 private:
  const LayoutMoment moment_;
  LogMoment at_;
  std::optional<uint64_t> first_time_ns_;
  bool has_passed_ = false;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GRAPH_MOMENT_WATCH_H_
