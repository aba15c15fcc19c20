#ifndef RINGSCOPE_CORE_TRACE_MACHINE_CLOCKS_H_
#define RINGSCOPE_CORE_TRACE_MACHINE_CLOCKS_H_

#include <cstdint>
#include <map>
#include <optional>

#include "core/trace/trace_clocks.h"

namespace ringscope {

/// The clocks of all machines of a trace: the service's own, and of each remote machine those of
/// its own snapshots, with the distance of its trace clock from the service's.
/// Memory: at most kMaxMachines machines.
class MachineClocks {
 public:
  static constexpr size_t kMaxMachines = 16;
  static constexpr size_t kMaxReadings = 50'000;  // of a remote machine's clocks

  TraceClocks& host() { return host_; }
  const TraceClocks& host() const { return host_; }
  /// @param machine 0: the service's own
  TraceClocks& Of(uint32_t machine);
  /// Takes in a RemoteClockSync message of a packet of this machine: the same moments on its clocks
  /// and on the service's.
  void AddSync(uint32_t machine, Bytes sync);
  /// A time of a packet of this machine as ns of the service's trace clock; nullopt: its clock
  /// cannot be converted. Where no RemoteClockSync was read, the machine's clock is taken as the
  /// service's.
  /// @param clock absent: the time is in the machine's trace clock
  std::optional<int64_t> ToTraceTime(uint32_t machine, std::optional<ClockKey> clock,
                                     uint64_t time);
  /// Of all machines.
  uint64_t invalid_snapshots() const;

 private:
  struct Remote {
    TraceClocks clocks{kMaxReadings};
    std::map<uint32_t, int64_t> ahead_ns;  // by clock: how far it is ahead of the service's
  };
  TraceClocks host_;
  std::map<uint32_t, Remote> remotes_;
  TraceClocks others_{kMaxReadings};  // of all machines beyond kMaxMachines
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TRACE_MACHINE_CLOCKS_H_
