#ifndef RINGSCOPE_CORE_GAPS_FTRACE_LOSSES_H_
#define RINGSCOPE_CORE_GAPS_FTRACE_LOSSES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/trace/ftrace_counters.h"

namespace ringscope {

/// What the kernel's ftrace lost of one CPU before anything reached a trace buffer, as the packets
/// that were read report.
struct FtraceCpuLosses {
  uint32_t cpu = 0;
  uint64_t bundles = 0;             // FtraceEventBundles read
  uint64_t bundles_after_loss = 0;  // of these, those that report that events before them were lost
  // FtraceStats of the session's end less those of its start: events.
  std::optional<uint64_t> overrun;
  std::optional<uint64_t> commit_overrun;
  std::optional<uint64_t> dropped_events;

  bool any() const {
    return bundles_after_loss > 0 || overrun.value_or(0) > 0 || commit_overrun.value_or(0) > 0 ||
           dropped_events.value_or(0) > 0;
  }
};

/// The CPUs that lost something, ascending.
std::vector<FtraceCpuLosses> FtraceLossesOf(const FtraceCounters& counters);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAPS_FTRACE_LOSSES_H_
