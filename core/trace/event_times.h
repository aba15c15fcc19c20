#ifndef RINGSCOPE_CORE_TRACE_EVENT_TIMES_H_
#define RINGSCOPE_CORE_TRACE_EVENT_TIMES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/trace/packet_view.h"
#include "core/trace/trace_clocks.h"

namespace ringscope {

/// What a sequence's packets have set for the times of those that follow.
struct SequenceTime {
  std::optional<uint32_t> default_clock;
  std::optional<int64_t> running_us;  // that deltas are added to; CLOCK_MONOTONIC

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

  void Add(std::optional<ClockKey> clock, uint64_t time) {
    if (times.size() < kMaxTimes)
      times.push_back({clock, time});
    else
      ++left_out;
  }

  // What is wrong with the packet.
  bool bundle_without_cpu = false;
  uint64_t events_without_time = 0;  // of ftrace
  bool bad_compact_sched = false;
  bool track_event_without_time = false;
  bool atom_without_time = false;

  void Clear() {
    times.clear();
    bundle_without_cpu = bad_compact_sched = false;
    track_event_without_time = atom_without_time = false;
    events_without_time = left_out = 0;
  }
};

/// The clock of the packet's own time: of its own, of its sequence, or of the trace.
/// @param sequence_id, id its parts, see ClockKey
/// @return whether there is one; else the number is taken as the trace's time
inline bool OwnClock(const TracePacketView& packet, const SequenceTime& sequence,
                     const TraceClocks& clocks, uint32_t& sequence_id, uint32_t& id) {
  if (!packet.timestamp_clock && !sequence.default_clock) {
    if (!clocks.default_clock()) return false;
    sequence_id = clocks.default_clock()->sequence_id;
    id = clocks.default_clock()->id;
    return true;
  }
  id = packet.timestamp_clock ? *packet.timestamp_clock : *sequence.default_clock;
  sequence_id = ClockKey::IsOfSequence(id) ? packet.sequence_id : 0;
  return true;
}
/// A packet's own time, whatever its content; nullopt: it has none.
inline std::optional<EventTimes::Time> OwnTime(const TracePacketView& packet,
                                               const SequenceTime& sequence,
                                               const TraceClocks& clocks) {
  if (!packet.timestamp) return std::nullopt;
  ClockKey clock;
  const bool has_clock = OwnClock(packet, sequence, clocks, clock.sequence_id, clock.id);
  return EventTimes::Time{has_clock ? std::optional(clock) : std::nullopt, *packet.timestamp};
}
/// Whether the packet is a track event at its own time, as most packets are: then ReadEventTimes
/// finds that time, and nothing else.
bool IsTrackEventAtOwnTime(const TracePacketView& packet);
/// Whether the packet's own time is all that ReadEventTimes finds in such content, whatever was
/// read before it: the content is of one of the kinds that most packets have.
/// @param content of the field `number` of the packet
bool HasOnlyOwnTime(uint32_t number, Bytes content);
/// Reads the times by the rules of the packet's content.
/// @param clocks gets the clock that a bundle of ftrace events brings along
/// @param out is cleared first
void ReadEventTimes(const TracePacketView& packet, SequenceTime& sequence, TraceClocks& clocks,
                    EventTimes& out);

/// Adds the times of all events in an FtraceEventBundle, compact ones too, and what is wrong with
/// it.
/// @param sequence_id of its packet: a clock of the kernel's that no other packet has is its own
void ReadFtraceTimes(Bytes bundle, uint32_t sequence_id, TraceClocks& clocks, EventTimes& out);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TRACE_EVENT_TIMES_H_
