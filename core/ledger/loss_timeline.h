#ifndef RINGSCOPE_CORE_LEDGER_LOSS_TIMELINE_H_
#define RINGSCOPE_CORE_LEDGER_LOSS_TIMELINE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/ledger/ledger.h"

namespace ringscope {

/// What a timeline goes over: the times of a session's records, or their numbers where they have no
/// times. Both ends are included.
struct TimelineAxis {
  bool by_record = false;
  uint64_t first = 0;
  uint64_t last = 0;

  uint64_t length() const { return last - first + 1; }
};

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

/// A buffer over time, or one sequence in it.
struct TimelineLane {
  BufferId buffer{};
  std::optional<SequenceKey> sequence;  // absent: all of the buffer
  std::vector<TimelineInterval> intervals;
  TimelineInterval all;  // those included whose place on the axis is not known
};

/// Counts packets by the time at which they were committed, in intervals of the same length.
/// Memory: O(lanes * intervals).
class LossTimeline : public LedgerSink {
 public:
  LossTimeline(TimelineAxis axis, size_t intervals) : axis_(axis), intervals_(intervals) {}

  /// @param sequence absent: all of the buffer
  void AddLane(BufferId buffer, std::optional<SequenceKey> sequence);

  void OnPacketFate(const PacketAccount& account) override;

  const TimelineAxis& axis() const { return axis_; }
  /// In the order in which they were added.
  const std::vector<TimelineLane>& lanes() const { return lanes_; }

 private:
  std::optional<size_t> PlaceOf(const LogMoment& moment) const;
  void Count(size_t lane, const PacketAccount& account);

  const TimelineAxis axis_;
  const size_t intervals_;
  std::vector<TimelineLane> lanes_;
  std::map<BufferId, size_t> buffers_;  // index in lanes_
  std::map<std::pair<BufferId, SequenceKey>, size_t> sequences_;
};

/// The same for a session that is still being read: its intervals become longer as it does.
class GrowingLossTimeline {
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
