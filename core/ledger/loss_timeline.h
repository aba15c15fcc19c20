#ifndef RINGSCOPE_CORE_LEDGER_LOSS_TIMELINE_H_
#define RINGSCOPE_CORE_LEDGER_LOSS_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ringscope {

/// Packets that were committed in an interval, and how many of these were lost.
struct TimelineInterval {
  uint64_t written = 0;
  uint64_t lost = 0;

  TimelineInterval& operator+=(const TimelineInterval& more) {
    written += more.written;
    lost += more.lost;
    return *this;
  }
};

/// Counts the packets of a session by the time at which they were committed, in intervals of the
/// same length, which become longer as the session does.
class LossTimeline {
 public:
  static constexpr size_t kIntervals = 48;

  /// Counts a packet. They may come in any order.
  void Add(uint64_t written_ns, bool is_lost);

  bool empty() const { return intervals_.empty(); }
  /// Where the first interval begins: then, or later in it, the first packet was written.
  uint64_t first_ns() const { return first_ns_; }
  uint64_t first_written_ns() const { return first_written_ns_; }
  uint64_t interval_ns() const { return interval_ns_; }
  /// Up to the last packet: between half of kIntervals and all, unless the session is very short.
  const std::vector<TimelineInterval>& intervals() const { return intervals_; }

 private:
  void Widen();
  void BeginAt(uint64_t written_ns);

  uint64_t first_ns_ = 0;
  uint64_t first_written_ns_ = UINT64_MAX;
  uint64_t interval_ns_ = 1'000;
  std::vector<TimelineInterval> intervals_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LEDGER_LOSS_TIMELINE_H_
