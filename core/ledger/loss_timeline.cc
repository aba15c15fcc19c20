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
  const auto place = static_cast<size_t>(static_cast<double>(offset) /
                                         static_cast<double>(axis_.length()) *
                                         static_cast<double>(intervals_));
  return std::min(place, intervals_ - 1);
}

void LossTimeline::Count(size_t lane, const PacketAccount& account) {
  const bool is_lost = IsLoss(account.fate);
  const auto add = [&](TimelineInterval& interval) {
    ++interval.written;
    if (is_lost) ++interval.lost;
  };
  add(lanes_[lane].all);
  if (const std::optional<size_t> place = PlaceOf(account.written))
    add(lanes_[lane].intervals[*place]);
}

}  // namespace ringscope
