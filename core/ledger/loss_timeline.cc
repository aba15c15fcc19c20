#include "core/ledger/loss_timeline.h"

#include <algorithm>
#include <utility>

namespace ringscope {

/// Makes intervals twice as long.
void LossTimeline::Widen() {
  for (size_t i = 0; i < intervals_.size(); ++i) {
    const TimelineInterval interval = std::exchange(intervals_[i], {});
    intervals_[i / 2] += interval;
  }
  intervals_.resize((intervals_.size() + 1) / 2);
  interval_ns_ *= 2;
}

/// Has the first interval begin then, or before.
void LossTimeline::BeginAt(uint64_t written_ns) {
  const auto missing = [&] { return (first_ns_ - written_ns + interval_ns_ - 1) / interval_ns_; };
  while (missing() + intervals_.size() > kIntervals) Widen();
  const uint64_t added = missing();
  intervals_.insert(intervals_.begin(), static_cast<size_t>(added), TimelineInterval{});
  first_ns_ -= std::min(first_ns_, added * interval_ns_);
}

void LossTimeline::Add(uint64_t written_ns, bool is_lost) {
  if (intervals_.empty()) first_ns_ = written_ns;
  first_written_ns_ = std::min(first_written_ns_, written_ns);
  if (written_ns < first_ns_) BeginAt(written_ns);
  const uint64_t offset = written_ns - first_ns_;
  while (offset / interval_ns_ >= kIntervals) Widen();
  const auto place = static_cast<size_t>(offset / interval_ns_);
  if (intervals_.size() <= place) intervals_.resize(place + 1);
  intervals_[place] += {.written = 1, .lost = is_lost ? 1u : 0u};
}

}  // namespace ringscope
