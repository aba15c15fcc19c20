#ifndef RINGSCOPE_CORE_PERFETTO_CLOCKS_H_
#define RINGSCOPE_CORE_PERFETTO_CLOCKS_H_

#include <map>
#include <vector>

#include "core/perfetto/packet_facts.h"

namespace ringscope {

/// CLOCK_BOOTTIME, the clock of a log's records and the default of packets.
/// Source: Perfetto's list of built-in clocks.
inline constexpr uint32_t kBootTime = proto::BuiltinClock::kBuiltinClockBoottime;
/// A clock's entry in a ClockSnapshot message.
struct ClockReading {
  uint32_t id = 0;
  uint64_t time = 0;  // in units
  uint64_t unit_ns = 1;
  bool is_incremental = false;

  /// Modulo 2^64.
  uint64_t ns() const { return time * unit_ns; }
};
struct ClockReadings {
  /// Further ones are left out: more than trace processor takes.
  static constexpr size_t kMaxClocks = 257;
  std::vector<ClockReading> clocks;
  std::optional<uint32_t> primary;  // the clock to whose times a trace's are converted
};
ClockReadings ReadClockSnapshot(Bytes snapshot);

/// Clocks as snapshots relate them to CLOCK_BOOTTIME.
class Clocks {
 public:
  /// @param snapshot a ClockSnapshot message @param outer where else clocks are known from
  void AddSnapshot(Bytes snapshot, const Clocks* outer = nullptr);
  /// A time of the clock as CLOCK_BOOTTIME in ns; nullopt if not known. Times of an incremental
  /// clock are steps from the one before, and this is the next one.
  std::optional<uint64_t> Resolve(uint32_t clock, uint64_t time);
  bool Knows(uint32_t clock) const { return clock == kBootTime || clocks_.contains(clock); }
  /// A packet may be missing: what counts in steps is not known until the next snapshot.
  void LoseSteps() {
    std::erase_if(clocks_, [](const auto& entry) { return entry.second.is_incremental; });
  }

 private:
  /// A clock with its last reading.
  struct Clock : ClockReading {
    uint64_t offset_ns = 0;  // to CLOCK_BOOTTIME, modulo 2^64
  };
  std::map<uint32_t, Clock> clocks_;
};

/// The clocks of one sequence: its own, and the default that it may have set.
class SequenceClocks {
 public:
  /// Time of the sequence's next packet as CLOCK_BOOTTIME in ns; nullopt if it has none, or its
  /// clock is not known, as the default clock of packets that need a state which is lost. Packets
  /// are given in the order in which they were written.
  /// @param packet its bytes, as far as at hand @param global clocks known to all
  std::optional<uint64_t> TimeOf(const PacketFacts& facts, Bytes packet, Clocks& global);
  /// A packet may be missing: neither steps nor the sequence's state are known.
  void LosePackets() {
    own_.LoseSteps();
    state_.Add(/*clears_state=*/false, /*lost=*/true);
  }

 private:
  std::optional<uint32_t> default_clock_;
  IncrementalState state_;
  Clocks own_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_CLOCKS_H_
