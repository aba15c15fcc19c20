#ifndef RINGSCOPE_CORE_TRACE_TRACE_CLOCKS_H_
#define RINGSCOPE_CORE_TRACE_TRACE_CLOCKS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/perfetto/clocks.h"

namespace ringscope {

/// A clock of a trace: one that all share, or one of a sequence's own.
struct ClockKey {
  uint32_t sequence_id = 0;  // 0: shared
  uint32_t id = 0;

  /// The clock that a packet of the sequence means by a number.
  static ClockKey Of(uint32_t sequence_id, uint32_t id) {
    return {id >= 64 && id <= 127 ? sequence_id : 0, id};
  }
  friend auto operator<=>(const ClockKey&, const ClockKey&) = default;
};

/// The reason why trace processor cannot convert a time. Its counters are clock_sync_failure_*.
enum class ClockFailure : uint8_t { kUnknownSource, kUnknownTarget, kNoPath };

/// The clocks of a trace as trace processor relates them: by the snapshots read so far. Times are
/// ns, negative ones where a conversion goes below 0.
/// Memory: at most so many readings of kMaxClocks clocks in kMaxSeries sets; further snapshots
/// are counted and left out.
class TraceClocks {
 public:
  static constexpr size_t kMaxReadings = 500'000;
  static constexpr size_t kMaxClocks = 4096;
  static constexpr size_t kMaxSeries = 256;
  static constexpr size_t kMaxClocksOfSnapshot = 256;  // one with more is invalid

  /// @param max_readings beyond which snapshots are left out
  explicit TraceClocks(size_t max_readings = kMaxReadings) : max_readings_(max_readings) {}

  /// Takes in a ClockSnapshot message of a packet of the sequence.
  void AddSnapshot(Bytes snapshot, uint32_t sequence_id);
  /// Relates two clocks at an instant.
  void Relate(ClockKey a, int64_t a_ns, ClockKey b, int64_t b_ns);

  /// A packet's time, in the clock's units, as ns of the trace's clock; nullopt if FailureOf says
  /// why not. The times of an incremental clock are steps, and this is the next one.
  std::optional<int64_t> ToTraceTime(ClockKey clock, uint64_t time);
  /// Returns what ToTraceTime does, without effect on the times that follow; of an incremental
  /// clock, the time that it has reached.
  std::optional<int64_t> Peek(ClockKey clock, uint64_t time);
  /// Why this clock's times cannot be converted; nullopt if they can.
  std::optional<ClockFailure> FailureOf(ClockKey clock);

  /// The clock of packets that name none; nullopt if there was no snapshot yet.
  const std::optional<ClockKey>& default_clock() const { return default_clock_; }
  ClockKey trace_clock() const { return trace_clock_; }
  /// Returns true if BOOTTIME could not be related to the trace's clock at the first conversion.
  bool lacks_boot_time() const { return lacks_boot_time_; }
  uint64_t snapshots() const { return snapshots_; }
  uint64_t invalid_snapshots() const { return invalid_snapshots_; }
  uint64_t snapshots_left_out() const { return left_out_; }

 private:
  using Readings = std::map<ClockKey, int64_t>;  // ns
  struct Clock {
    uint64_t unit_ns = 1;
    bool is_incremental = false;
    uint64_t last = 0;       // in units, of an incremental clock
    bool runs_back = false;  // it did, between snapshots: nothing can be converted from it
  };
  /// The snapshots of one set of clocks: for each clock its times, in the order of the snapshots.
  struct Series {
    std::map<ClockKey, std::vector<int64_t>> times;
    size_t last_used = 0;
  };
  struct Step {
    Series* series;
    const std::vector<int64_t>*from, *to;  // times

    int64_t Convert(int64_t ns) const;
  };
  using Path = std::vector<Step>;

  void Add(const Readings& readings);
  static std::vector<ClockKey> ClocksOf(const Readings& readings);
  const Path* PathFrom(ClockKey clock);
  void BeginConversions();
  void ForgetPaths() {
    paths_.clear();
    last_ = {};
  }

  std::map<std::vector<ClockKey>, Series> series_;  // by their clocks
  std::map<ClockKey, Clock> clocks_;
  std::map<ClockKey, Path> paths_;  // to the trace's clock; empty: there is none
  /// The clock that was converted last, as most times are of the same.
  struct Last {
    ClockKey key;
    Clock* clock = nullptr;      // nullptr if there is none
    const Path* path = nullptr;  // nullptr if it is the trace's own
  };
  Last last_;
  size_t max_readings_;
  ClockKey trace_clock_{0, kBootTime};
  std::optional<ClockKey> default_clock_;
  bool has_converted_ = false, lacks_boot_time_ = false;
  size_t readings_ = 0;
  uint64_t snapshots_ = 0, invalid_snapshots_ = 0, left_out_ = 0;
};

/// The clocks of all machines of a trace: the service's own, and of each remote machine those of
/// its own snapshots, with the distance of its trace clock from the service's.
/// Memory: at most kMaxMachines machines.
class MachineClocks {
 public:
  static constexpr size_t kMaxMachines = 16;
  static constexpr size_t kMaxReadings = 50'000;  // of a remote machine's clocks

  const TraceClocks& host() const { return host_; }
  /// @param machine 0: the service's own
  TraceClocks& Of(uint32_t machine);
  /// Takes in a RemoteClockSync message of a packet of this machine: the same moments on its clocks
  /// and on the service's.
  void AddSync(uint32_t machine, Bytes sync);
  /// A time of a packet of this machine as ns of the service's trace clock; nullopt if its clock
  /// cannot be converted. Without a RemoteClockSync, the machine's clock is taken as the service's.
  /// @param clock absent: the time is in the machine's trace clock
  std::optional<int64_t> ToTraceTime(uint32_t machine, std::optional<ClockKey> clock,
                                     uint64_t time);
  /// Returns the clock snapshots of all machines that trace processor refuses.
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

#endif  // RINGSCOPE_CORE_TRACE_TRACE_CLOCKS_H_
