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

void Gap::AddEvicted(const EvictorCount& more) {
  const auto same = std::ranges::find(evicted_by, more.sequence, &EvictorCount::sequence);
  if (same != evicted_by.end())
    same->packets += more.packets;
  else if (evicted_by.size() < kMaxEvictors)
    evicted_by.push_back(more);
  else
    evicted_by_others += more.packets;
}

uint64_t Gap::pushed_bytes() const {
  uint64_t bytes = other_bytes;
  for (const SequenceShare& share : culprits) bytes += share.bytes;
  return bytes;
}

}  // namespace ringscope
