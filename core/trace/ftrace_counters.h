#ifndef RINGSCOPE_CORE_TRACE_FTRACE_COUNTERS_H_
#define RINGSCOPE_CORE_TRACE_FTRACE_COUNTERS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "core/base/ids.h"

namespace ringscope {

/// Counters of a CPU in ftrace_stats packets. Times in ns of the trace's clock.
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
inline constexpr size_t kFtraceCounters = 8;

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
  struct Cpu {
    uint64_t bundles = 0;                   // FtraceEventBundles read
    uint64_t bundles_after_loss = 0;        // of these, with lost_events
    std::optional<uint64_t> first_loss_ns;  // of their first events, BOOTTIME
    std::optional<uint64_t> last_loss_ns;
    std::array<FtracePhases, kFtraceCounters> counters;

    const FtracePhases& operator[](FtraceCounter counter) const {
      return counters[static_cast<size_t>(counter)];
    }
  };

  /// Returns true if AddPacket is of use for a packet with this content (of proto::TracePacket).
  static bool Wants(uint32_t content);
  /// Reads all bundles and statistics in the packet.
  void AddPacket(Bytes packet);
  /// An FtraceEventBundle.
  void AddBundle(Bytes bundle);
  /// An FtraceStats message.
  void AddStats(Bytes stats);

  const std::map<uint64_t, Cpu>& cpus() const { return cpus_; }
  const FtracePhases& kprobe_hits() const { return kprobe_hits_; }
  const FtracePhases& kprobe_misses() const { return kprobe_misses_; }

 private:
  std::map<uint64_t, Cpu> cpus_;
  FtracePhases kprobe_hits_, kprobe_misses_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TRACE_FTRACE_COUNTERS_H_
