#include "core/gaps/gap_report.h"

#include <algorithm>

namespace ringscope {

void MomentSpan::Add(const LogMoment& moment) {
  if (!first.record || moment.record < first.record) first = moment;
  if (moment.record >= last.record) last = moment;
}

void UnusablePackets::Add(uint64_t bytes, std::optional<uint64_t> time_ns) {
  count += {1, bytes};
  if (!time_ns) return;
  from_ns = std::min(from_ns.value_or(*time_ns), *time_ns);
  to_ns = std::max(to_ns.value_or(*time_ns), *time_ns);
}

uint64_t Gap::pushed_bytes() const {
  uint64_t bytes = other_bytes;
  for (const SequenceShare& share : culprits) bytes += share.bytes;
  return bytes;
}

FateCount SequenceLosses::written() const {
  FateCount sum;
  for (const FateCount& count : by_fate) sum += count;
  return sum;
}

FateCount SequenceLosses::lost() const {
  FateCount sum;
  for (size_t i = 0; i < kFates; ++i)
    if (IsLoss(static_cast<Fate>(i))) sum += by_fate[i];
  return sum;
}

FateCount GapReport::lost() const {
  FateCount sum;
  for (const BufferGaps& buffer : buffers) sum += buffer.totals.lost();
  return sum;
}

}  // namespace ringscope
