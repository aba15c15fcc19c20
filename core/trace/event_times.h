#ifndef RINGSCOPE_CORE_TRACE_EVENT_TIMES_H_
#define RINGSCOPE_CORE_TRACE_EVENT_TIMES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/trace/packet_view.h"
#include "core/trace/trace_clocks.h"
#include "core/trace/trace_facts.h"

namespace ringscope {

/// Settings of a sequence's packets for the times of the packets that follow.
struct SequenceTime {
  std::optional<uint32_t> default_clock;
  std::optional<uint64_t> running_us;  // that deltas are added to; CLOCK_MONOTONIC

  /// Takes in what a packet changes, before its own times are read.
  void Update(const TracePacketView& packet);
};

/// The times of the events in a packet, which trace processor sorts it by.
struct EventTimes {
  struct Time {
    std::optional<ClockKey> clock;  // absent: the number is taken as the trace's time
    uint64_t time = 0;              // in the clock's units
  };
  /// Of one packet; real ones have some thousands. Further ones are counted, and left out.
  static constexpr size_t kMaxTimes = size_t{1} << 18;

  std::vector<Time> times;  // empty: the packet is used when it is read, or as the latest so far
  uint64_t left_out = 0;
  TrackEventShape event;  // of a track event

  void Add(std::optional<ClockKey> clock, uint64_t time) {
    if (times.size() < kMaxTimes)
      times.push_back({clock, time});
    else
      ++left_out;
  }
};

/// Returns the clock of the packet's own time; nullopt if the number is taken as the trace's time.
std::optional<ClockKey> OwnClockOf(const TracePacketView& packet, const SequenceTime& sequence,
                                   const TraceClocks& clocks);
/// Reads the times by the rules of the packet's content.
/// @param clocks gets the clock that a bundle of ftrace events has
/// @param facts of the packet's machine; gets what the packet lacks
/// @param out is cleared first
void ReadEventTimes(const TracePacketView& packet, SequenceTime& sequence, TraceClocks& clocks,
                    MachineFacts& facts, EventTimes& out);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TRACE_EVENT_TIMES_H_
