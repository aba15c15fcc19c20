#include "core/ledger/loss_timeline.h"

#include <algorithm>
#include <utility>

namespace ringscope {

void LossTimeline::AddLane(BufferId buffer, std::optional<SequenceKey> sequence) {
  const size_t index = lanes_.size();
  const bool is_new = sequence ? sequences_.emplace(std::pair(buffer, *sequence), index).second
                               : buffers_.emplace(buffer, index).second;
  if (is_new) lanes_.push_back({buffer, sequence, std::vector<TimelineInterval>(intervals_), {}});
}

void LossTimeline::OnPacketFate(const PacketAccount& account) {
  if (const auto lane = buffers_.find(account.buffer); lane != buffers_.end())
    Count(lane->second, account);
  const auto lane = sequences_.find(std::pair(account.buffer, account.sequence));
  if (lane != sequences_.end()) Count(lane->second, account);
}

std::optional<size_t> LossTimeline::PlaceOf(const LogMoment& moment) const {
  const std::optional<uint64_t>& at = axis_.by_record ? moment.record : moment.time_ns;
  if (!at || intervals_ == 0) return std::nullopt;
  const uint64_t offset = std::clamp(*at, axis_.first, axis_.last) - axis_.first;
  const auto place =
      static_cast<size_t>(static_cast<double>(offset) / static_cast<double>(axis_.length()) *
                          static_cast<double>(intervals_));
  return std::min(place, intervals_ - 1);
}

void LossTimeline::Count(size_t lane, const PacketAccount& account) {
  const TimelineInterval one{.written = 1, .lost = IsLoss(account.fate) ? 1u : 0u};
  lanes_[lane].all += one;
  if (const std::optional<size_t> place = PlaceOf(account.written))
    lanes_[lane].intervals[*place] += one;
}

/// Makes intervals twice as long.
void GrowingLossTimeline::Widen() {
  for (size_t i = 0; i < intervals_.size(); ++i) {
    const TimelineInterval interval = std::exchange(intervals_[i], {});
    intervals_[i / 2] += interval;
  }
  intervals_.resize((intervals_.size() + 1) / 2);
  interval_ns_ *= 2;
}

/// Has the first interval begin then, or before.
void GrowingLossTimeline::BeginAt(uint64_t written_ns) {
  const auto missing = [&] { return (first_ns_ - written_ns + interval_ns_ - 1) / interval_ns_; };
  while (missing() + intervals_.size() > kIntervals) Widen();
  const uint64_t added = missing();
  intervals_.insert(intervals_.begin(), static_cast<size_t>(added), TimelineInterval{});
  first_ns_ -= std::min(first_ns_, added * interval_ns_);
}

void GrowingLossTimeline::Add(uint64_t written_ns, bool is_lost) {
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
