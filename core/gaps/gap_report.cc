#include "core/gaps/gap_report.h"

#include <algorithm>

namespace ringscope {
namespace {

/// The kernel's counters continue from session to session: without a value of the start, all
/// counts.
uint64_t Since(const FtracePhases& phases) {
  const uint64_t begin = phases.begin.value_or(0);
  const uint64_t end = phases.end.value_or(0);
  return end > begin ? end - begin : 0;
}

}  // namespace

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

std::optional<uint64_t> LeftSince(const BufferGaps& buffer) {
  std::optional<uint64_t> since_ns;
  for (const SequenceGaps& sequence : buffer.sequences) {
    if (sequence.by_fate[Fate::kOverwritten].packets == 0) continue;
    const Gap* gap = nullptr;
    for (const Gap& one : sequence.gaps)
      if (!one.causes.empty() && one.causes.front().fate == Fate::kOverwritten) {
        if (gap != nullptr || one.causes.front().cause != Cause::kEvicted) return std::nullopt;
        gap = &one;
      }
    if (gap == nullptr || gap->first.chunk > sequence.first_chunk || gap->first.fragment > 0 ||
        !gap->written.last.time_ns)
      return std::nullopt;
    since_ns = std::max(since_ns.value_or(0), *gap->written.last.time_ns);
  }
  return since_ns;
}

const BufferGaps* GapReport::Find(BufferId id) const {
  const auto found = std::ranges::find(buffers, id, &BufferGaps::id);
  return found == buffers.end() ? nullptr : &*found;
}

std::vector<FtraceCpuLosses> FtraceLossesOf(const FtraceCounters& counters) {
  std::vector<FtraceCpuLosses> result;
  for (const auto& [number, cpu] : counters.cpus()) {
    FtraceCpuLosses losses;
    losses.cpu = static_cast<uint32_t>(number);
    losses.bundles = cpu.bundles;
    losses.bundles_after_loss = cpu.bundles_after_loss;
    losses.first_loss_ns = cpu.first_loss_ns;
    losses.last_loss_ns = cpu.last_loss_ns;
    const bool has_end = std::any_of(cpu.counters.begin(), cpu.counters.end(),
                                     [](const FtracePhases& phases) { return phases.end; });
    if (has_end) {
      losses.overrun = Since(cpu[FtraceCounter::kOverrun]);
      losses.commit_overrun = Since(cpu[FtraceCounter::kCommitOverrun]);
      losses.dropped_events = Since(cpu[FtraceCounter::kDroppedEvents]);
    }
    if (losses.any()) result.push_back(losses);
  }
  return result;
}

}  // namespace ringscope
