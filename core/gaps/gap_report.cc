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

uint64_t Gap::evicted() const {
  uint64_t packets = evicted_by_others;
  for (const EvictorCount& evictor : evicted_by) packets += evictor.packets;
  return packets;
}

const BufferGaps* GapReport::Find(BufferId id) const {
  const auto found = std::ranges::find(buffers, id, &BufferGaps::id);
  return found == buffers.end() ? nullptr : &*found;
}

}  // namespace ringscope
