#ifndef RINGSCOPE_CORE_TRACE_FTRACE_COUNTERS_H_
#define RINGSCOPE_CORE_TRACE_FTRACE_COUNTERS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/enum_names.h"
#include "core/base/ids.h"
#include "core/perfetto/fields.h"

namespace ringscope {

/// A log's time as one that can be before another: no session is as long as what is cut here.
inline int64_t SignedNs(uint64_t ns) {
  return static_cast<int64_t>(std::min<uint64_t>(ns, INT64_MAX));
}

/// An interval of the trace's time, in ns.
struct TimeSpan {
  int64_t first_ns = 0;
  int64_t last_ns = 0;

  void Add(int64_t ns) {
    if (ns < first_ns) first_ns = ns;
    if (ns > last_ns) last_ns = ns;
  }
  int64_t length_ns() const { return last_ns - first_ns; }
};

inline void AddTo(std::optional<TimeSpan>& span, int64_t ns) {
  if (span)
    span->Add(ns);
  else
    span = TimeSpan{ns, ns};
}

inline void AddTo(std::optional<TimeSpan>& span, const std::optional<TimeSpan>& more) {
  if (!more) return;
  AddTo(span, more->first_ns);
  AddTo(span, more->last_ns);
}

/// Counters of a CPU in ftrace_stats packets. Times in ns of the trace's clock; in the packets they
/// are doubles, in seconds.
enum class FtraceCounter : uint8_t {
  kEntries,
  kOverrun,
  kCommitOverrun,
  kBytes,
  kDroppedEvents,
  kReadEvents,
  kNowTs,
  kOldestEventTs,
};
struct FtraceCounterRow {
  FtraceCounter value;
  const char* name;  // trace processor's
  uint32_t field;    // in FtraceCpuStats
  bool is_time = false;
  bool is_loss = false;
};
template <>
inline constexpr auto kEnumRows<FtraceCounter> = EnumTable<FtraceCounterRow>({
    {FtraceCounter::kEntries, "entries", 2},
    {FtraceCounter::kOverrun, "overrun", proto::FtraceCpuStats::kOverrun},
    {FtraceCounter::kCommitOverrun, "commit_overrun", proto::FtraceCpuStats::kCommitOverrun, false,
     true},
    {FtraceCounter::kBytes, "bytes", 5},
    {FtraceCounter::kDroppedEvents, "dropped_events", proto::FtraceCpuStats::kDroppedEvents, false,
     true},
    {FtraceCounter::kReadEvents, "read_events", 9},
    {FtraceCounter::kNowTs, "now_ts", 7, true},
    {FtraceCounter::kOldestEventTs, "oldest_event_ts", 6, true},
});

/// A counter at the start and at the end of the session, as far as it was read.
struct FtracePhases {
  std::optional<uint64_t> begin, end;
  /// Trace processor's: nullopt without both.
  std::optional<uint64_t> delta() const {
    if (!begin || !end) return std::nullopt;
    return *end > *begin ? *end - *begin : 0;
  }
};

/// The time of an event, BOOTTIME.
struct FtraceMoment {
  uint64_t time_ns = 0;
  std::optional<uint32_t> cpu;
};
/// The first event of an FtraceEventBundle, a compact one too; nullopt if it has none, or its clock
/// is not BOOTTIME.
std::optional<FtraceMoment> FirstFtraceEvent(Bytes bundle);

/// Collects what trace processor shows of the kernel's ftrace from the packets that were read.
/// Memory: O(CPUs), at most kMaxCpus.
class FtraceCounters {
 public:
  static constexpr uint64_t kMaxCpus = 1024;  // more are no trace's
  static constexpr size_t kMaxHoles = 10'000;
  struct Cpu {
    uint64_t bundles = 0;                   // FtraceEventBundles read
    uint64_t bundles_after_loss = 0;        // of these, with lost_events
    std::optional<uint64_t> first_loss_ns;  // of their first events, BOOTTIME
    std::optional<uint64_t> last_loss_ns;
    /// Spans without their events: from the bundle before to the first event of the one after. The
    /// first kMaxHoles; further ones are joined to the last.
    std::vector<TimeSpan> holes;
    std::optional<int64_t> last_ns = {};       // of the bundle read last
    std::optional<int64_t> data_from_ns = {};  // end of what was read before its first bundle
    std::array<FtracePhases, kEnumRows<FtraceCounter>.size()> counters;

    const FtracePhases& operator[](FtraceCounter counter) const {
      return counters[static_cast<size_t>(counter)];
    }
  };

  /// Reads all bundles and statistics in a packet with this content (of proto::TracePacket).
  void AddPacket(uint32_t content, Bytes packet);
  /// An FtraceEventBundle.
  /// @param events their times; absent: of the first one, BOOTTIME, where it is needed
  void AddBundle(Bytes bundle, std::optional<TimeSpan> events = {});
  /// An FtraceStats message.
  void AddStats(Bytes stats);
  /// Keeps the time of an event, of the first kMaxTimes.
  void AddEvent(int64_t time_ns) {
    if (++events_ <= kMaxTimes) times_.push_back(time_ns);
  }
  uint64_t events() const { return events_; }
  /// Returns from when on all CPUs have data, with the CPU that begins last: trace processor makes
  /// no slices of older events. nullopt: not known.
  std::optional<std::pair<int64_t, uint64_t>> DataFrom() const;
  /// Returns how many of the first kMaxTimes events are older.
  uint64_t EventsBefore(int64_t time_ns) const;

  const std::map<uint64_t, Cpu>& cpus() const { return cpus_; }
  /// Returns true if a bundle of events was read; statistics are there without events, too.
  bool has_events() const {
    return std::ranges::any_of(cpus_, [](const auto& cpu) { return cpu.second.bundles > 0; });
  }

  FtracePhases kprobe_hits, kprobe_misses;
  // Problems that the statistics report of the session's start.
  bool has_stats = false;
  std::vector<std::string> unknown_events, failed_events;  // at most kMaxNames of each
  std::string atrace_errors, exclusive_error;

 private:
  static constexpr size_t kMaxTimes = 65'536, kMaxNames = 256;

  uint64_t events_ = 0;
  std::vector<int64_t> times_;
  std::map<uint64_t, Cpu> cpus_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TRACE_FTRACE_COUNTERS_H_
