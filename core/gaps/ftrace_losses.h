#ifndef RINGSCOPE_CORE_GAPS_FTRACE_LOSSES_H_
#define RINGSCOPE_CORE_GAPS_FTRACE_LOSSES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/base/ids.h"

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

/// Reads ftrace's own losses from packets.
class FtraceLosses {
 public:
  /// @param content ftrace_events or ftrace_stats (of proto::TracePacket); others are ignored
  void AddPacket(Bytes packet, uint32_t content);
  /// CPUs that lost something, ascending.
  std::vector<FtraceCpuLosses> Result() const;

 private:
  struct Counters {
    uint64_t overrun = 0;
    uint64_t commit_overrun = 0;
    uint64_t dropped_events = 0;
  };
  struct Cpu {
    FtraceCpuLosses losses;
    std::optional<Counters> start;
    std::optional<Counters> end;
  };

  void AddBundle(Bytes bundle);
  void AddStats(Bytes stats);

  std::map<uint32_t, Cpu> cpus_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAPS_FTRACE_LOSSES_H_
