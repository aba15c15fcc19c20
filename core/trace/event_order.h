#ifndef RINGSCOPE_CORE_TRACE_EVENT_ORDER_H_
#define RINGSCOPE_CORE_TRACE_EVENT_ORDER_H_

#include <algorithm>
#include <cstdint>
#include <limits>

namespace ringscope {

/// How many events trace processor drops because they come too late. It sorts a trace in windows:
/// when the service has read its buffers after at least two flushes, everything that came before
/// the previous such point leaves the sorter, in order; an event that is older than one that has
/// left is dropped. So a trace without the service's events is sorted as a whole, and drops none.
class EventOrder {
 public:
  void AddEvent(int64_t time_ns) {
    if (time_ns < left_after_next_) ++late_if_point_follows_;
    if (time_ns < left_) ++late_if_last_;
    newest_ = std::max(newest_, time_ns);
  }
  void AddFlush() { ++flushes_; }
  void AddRead() {
    if (flushes_ < kFlushesBetween) return;
    flushes_ = 0;
    ++windows_;
    dropped_ += late_if_point_follows_;
    late_if_point_follows_ = late_if_last_ = 0;
    left_ = left_after_next_;
    left_after_next_ = std::max(left_after_next_, newest_);
  }
  /// Events dropped if the trace ends here.
  uint64_t dropped() const { return dropped_ + late_if_last_; }
  /// Points at which events left the sorter before the trace's end.
  uint64_t windows() const { return windows_; }

 private:
  static constexpr int kFlushesBetween = 2;
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::min();

  int flushes_ = 0;
  uint64_t windows_ = 0;
  // The newest event that has left the sorter when the current window's events leave it: at the
  // end of the window after this one, or, if that never ends, with the trace's last events.
  int64_t left_after_next_ = kNone;
  int64_t left_ = kNone;
  int64_t newest_ = kNone;
  uint64_t late_if_point_follows_ = 0, late_if_last_ = 0;  // events of the current window
  uint64_t dropped_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TRACE_EVENT_ORDER_H_
