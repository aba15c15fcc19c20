#ifndef RINGSCOPE_CORE_LEDGER_LOSS_TIMELINE_H_
#define RINGSCOPE_CORE_LEDGER_LOSS_TIMELINE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
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
  void Add(uint64_t written_ns, bool is_lost) {
    if (intervals_.empty()) first_ns_ = written_ns;
    first_written_ns_ = std::min(first_written_ns_, written_ns);
    if (written_ns < first_ns_) BeginAt(written_ns);
    const uint64_t offset = written_ns - first_ns_;
    while (offset / interval_ns_ >= kIntervals) Widen();
    const auto place = static_cast<size_t>(offset / interval_ns_);
    if (intervals_.size() <= place) intervals_.resize(place + 1);
    intervals_[place] += {.written = 1, .lost = is_lost ? 1u : 0u};
  }

  bool empty() const { return intervals_.empty(); }
  /// Where the first interval begins: then, or later in it, the first packet was written.
  uint64_t first_ns() const { return first_ns_; }
  uint64_t first_written_ns() const { return first_written_ns_; }
  uint64_t interval_ns() const { return interval_ns_; }
  /// Up to the last packet: between half of kIntervals and all, unless the session is very short.
  const std::vector<TimelineInterval>& intervals() const { return intervals_; }

 private:
  /// Makes intervals twice as long.
  void Widen() {
    for (size_t i = 0; i < intervals_.size(); ++i) {
      const TimelineInterval interval = std::exchange(intervals_[i], {});
      intervals_[i / 2] += interval;
    }
    intervals_.resize((intervals_.size() + 1) / 2);
    interval_ns_ *= 2;
  }
  /// Has the first interval begin then, or before.
  void BeginAt(uint64_t written_ns) {
    const auto missing = [&] { return (first_ns_ - written_ns + interval_ns_ - 1) / interval_ns_; };
    while (missing() + intervals_.size() > kIntervals) Widen();
    const uint64_t added = missing();
    intervals_.insert(intervals_.begin(), static_cast<size_t>(added), TimelineInterval{});
    first_ns_ -= std::min(first_ns_, added * interval_ns_);
  }

  uint64_t first_ns_ = 0;
  uint64_t first_written_ns_ = UINT64_MAX;
  uint64_t interval_ns_ = 1'000;
  std::vector<TimelineInterval> intervals_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LEDGER_LOSS_TIMELINE_H_
