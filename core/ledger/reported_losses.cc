#include "core/ledger/reported_losses.h"

#include <algorithm>

namespace ringscope {

void ReportedLosses::Add(const Op& op, const LogMoment& moment) {
  if (const auto* header = std::get_if<LogHeader>(&op.body))
    from_trace_ = header->source == Origin::kSynthetic;
  const auto* gap = std::get_if<RecorderGap>(&op.body);
  if (gap == nullptr) return;
  if (list_.size() == limit_) {
    ++unlisted_;
    return;
  }
  ReportedLoss& loss = list_.emplace_back();
  loss.at = moment;
  loss.reason = gap->reason;
  loss.producer = gap->producer;
  if (gap->producer && gap->writer) loss.sequence = {*gap->producer, *gap->writer};
  loss.loss_bits = gap->loss_bits.value_or(0);
  loss.records = gap->records;
  loss.bytes = gap->bytes;
  loss.from_ns = gap->from_ns;
  loss.to_ns = gap->to_ns;
}

std::optional<size_t> ReportedLosses::Between(const LogMoment& first, const LogMoment& last,
                                              SequenceKey sequence) const {
  auto at = std::lower_bound(list_.begin(), list_.end(), first.record,
                             [](const ReportedLoss& loss, std::optional<uint64_t> record) {
                               return loss.at.record < record;
                             });
  for (; at != list_.end() && at->at.record <= last.record; ++at)
    if (at->Concerns(sequence)) return static_cast<size_t>(at - list_.begin());
  return std::nullopt;
}

}  // namespace ringscope
