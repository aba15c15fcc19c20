#include "core/gaps/ftrace_losses.h"

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

std::vector<FtraceCpuLosses> FtraceLossesOf(const FtraceCounters& counters) {
  std::vector<FtraceCpuLosses> result;
  for (const auto& [number, cpu] : counters.cpus()) {
    FtraceCpuLosses losses;
    losses.cpu = static_cast<uint32_t>(number);
    losses.bundles = cpu.bundles;
    losses.bundles_after_loss = cpu.bundles_after_loss;
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
