#ifndef RINGSCOPE_CORE_TRACE_TRACE_SCAN_H_
#define RINGSCOPE_CORE_TRACE_TRACE_SCAN_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/perfetto/packet_facts.h"
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
  /// Times that are kept of one packet; real ones have some thousands. The rest is counted alone.
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

/// Receives the packets of a trace file, session by session.
class SessionPackets {
 public:
  virtual ~SessionPackets() = default;
  virtual Status OnPacket(const RawPacket& packet, const TracePacketView& view) = 0;
  /// All packets that follow are of the next session.
  /// @param offset of its first packet
  virtual Status OnNextSession(uint64_t offset) = 0;
};

/// Divides the packets of a file among its sessions: files may have been joined, and a clone's file
/// can have what the session before had written. A session begins with what the service writes in
/// its first pass: clock snapshots, a synchronization marker, the trace config, a uuid. Snapshots
/// and markers are kept until it is known whether a config follows them. Memory: kMaxKept bytes.
class SessionSplit {
 public:
  static constexpr size_t kMaxKept = size_t{1} << 20;
  static constexpr uint64_t kMaxSessions = 1000;  // more are no trace's

  explicit SessionSplit(SessionPackets& to) : to_(to) {}

  /// The next packet of the file.
  Status Add(const RawPacket& packet, const TracePacketView& view);
  /// The file's end.
  Status Finish();

  /// From now on, all is of the session that has begun.
  void Stop() { is_stopped_ = true; }
  /// Returns true if a session began after that.
  bool has_missed() const { return has_missed_; }

 private:
  enum class Place : uint8_t { kSame, kPerhapsNext, kNext };
  struct Kept {
    RawPacket packet;
    std::string bytes;
  };

  Place PlaceOf(const TracePacketView& packet);
  Place PlaceOfOpening(bool was_opened, bool& has_this);

  SessionPackets& to_;
  std::vector<Kept> kept_;
  size_t kept_bytes_ = 0;
  bool has_kept_stats_ = false;  // old services write statistics before the config
  bool has_config_ = false, has_uuid_ = false, has_stats_ = false;
  bool has_content_ = false;  // more than its opening
  uint64_t sessions_ = 1;
  bool is_stopped_ = false, has_missed_ = false;
};

/// Counts events that trace processor drops because they come too late. It sorts a trace in
/// windows: when the service has read its buffers after at least two flushes, everything that came
/// before the previous such point leaves the sorter, in order; an event that is older than one that
/// has left is dropped. A trace without the service's events is one window, and drops none.
class EventOrder {
 public:
  void AddEvent(int64_t time_ns) {
    if (time_ns < left_after_next_) ++late_if_point_follows_;
    if (time_ns < left_) ++late_if_last_;
    newest_ = std::max(newest_, time_ns);
  }
  void AddFlush() { ++flushes_; }
  void AddRead() {
    if (flushes_ < kFlushesBetween) return;
    flushes_ = 0;
    ++windows_;
    dropped_ += late_if_point_follows_;
    late_if_point_follows_ = late_if_last_ = 0;
    left_ = left_after_next_;
    left_after_next_ = std::max(left_after_next_, newest_);
  }
  /// Events dropped if the trace ends here.
  uint64_t dropped() const { return dropped_ + late_if_last_; }
  /// The newest event that has left the sorter before the trace's end; 0: none has.
  int64_t left_ns() const { return std::max<int64_t>(left_, 0); }
  /// Points at which events left the sorter before the trace's end.
  uint64_t windows() const { return windows_; }

 private:
  static constexpr int kFlushesBetween = 2;
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::min();

  int flushes_ = 0;
  uint64_t windows_ = 0;
  // The newest event that has left the sorter when the current window's events leave it: at the
  // end of the window after this one, or, if that never ends, with the trace's last events.
  int64_t left_after_next_ = kNone;
  int64_t left_ = kNone;
  int64_t newest_ = kNone;
  uint64_t late_if_point_follows_ = 0, late_if_last_ = 0;  // events of the current window
  uint64_t dropped_ = 0;
};

/// Finds the longest time without a packet. Memory: kMost intervals.
class HoleFinder {
 public:
  void Add(int64_t ns);
  /// Returns the hole, if it is longer than half of the trace and than kShortestNs.
  std::optional<TimeHole> Find() const;

 private:
  static constexpr int64_t kShortestNs = 30'000'000'000;
  static constexpr size_t kMost = 4096;
  struct Interval {
    TimeSpan span;
    uint64_t packets = 0;
  };

  int64_t width_ns_ = 1'000'000'000;
  std::map<int64_t, Interval> intervals_;  // by time over width
  // The last one used: packets that follow each other are mostly of the same.
  std::pair<int64_t, Interval*> last_{};
};

/// Reads the packets of a trace file in one pass, by the rules of trace processor, and collects
/// what is known of the session and its losses. Packets that are compressed inside a packet are
/// given in its place.
/// Memory: O(sequences + clock snapshots), with limits: not of the trace's size, whatever is in it.
/// Source: what is known of trace processor v58.
class TraceScan {
 public:
  static constexpr size_t kMaxSequences = 50'000;
  static constexpr size_t kMaxHoles = 100'000;

  TraceScan() { sequences_.reserve(1024); }

  /// The next packet of the file. Empty ones count, and are skipped.
  /// @param offset in the file, of its field or of that of the packet that holds it compressed
  void AddPacket(uint64_t offset, Bytes bytes, const TracePacketView& packet);
  void AddPacket(uint64_t offset, Bytes packet) {
    AddPacket(offset, packet, ViewTracePacket(packet));
  }
  /// Returns all facts. Call it last.
  TraceFacts Finish();

 private:
  struct Sequence {
    TraceSequence facts;
    SequenceTime time;
    IncrementalState state;
    bool is_seen = false;  // it has a packet
    SequenceContent content;
    std::optional<int64_t> last_ns;
    uint32_t loss_bits = 0;  // reported, since then
  };

  static uint64_t KeyOf(uint32_t machine, uint32_t id) { return uint64_t{machine} << 32 | id; }
  Sequence* SequenceOf(uint32_t machine, uint32_t id);
  MachineFacts& FactsOf(uint32_t machine);
  void AddCategories(Bytes interned, MachineFacts& machine);
  void UpdateState(const TracePacketView& packet, Sequence& sequence, MachineFacts& machine);
  bool IsUsable(const TracePacketView& packet, uint64_t offset, Sequence& sequence);
  std::optional<TimeSpan> AddTimes(const TracePacketView& packet, Sequence& sequence,
                                   MachineFacts& machine);
  std::optional<int64_t> OwnTime(const TracePacketView& packet, const Sequence& sequence);
  void AddFailure(uint32_t machine, ClockKey clock);
  void CloseHole(Sequence& sequence, int64_t ns);
  void AddContent(const TracePacketView& packet, uint64_t bytes, bool is_skipped,
                  const std::optional<TimeSpan>& events, TraceSequence& sequence);
  // Facts that the service reports of its session, and producers of themselves.
  void AddOwnFacts(const TracePacketView& packet, const std::optional<TimeSpan>& times,
                   MachineFacts& machine);
  void AddConfig(Bytes config);
  void AddServiceEvent(const TracePacketView& packet);
  TraceBuffer& BufferOf(size_t index);
  void AddStats(Bytes stats);
  void AddWriterStats(Bytes stats);
  void AddListing(Bytes listing);
  void AddProcessNames(const TracePacketView& packet, TraceSequence& sequence);
  void NameProcess(int32_t pid, Bytes name);

  TraceFacts facts_;
  MachineClocks clocks_;
  EventOrder order_;
  HoleFinder holes_;
  EventTimes times_;
  ContentScan content_;
  std::unordered_map<uint64_t, Sequence> sequences_;  // by machine and id
  // The last one asked for, as most packets are of the same; nodes of the map stay in their places.
  uint64_t last_key_ = 0;
  Sequence* last_sequence_ = nullptr;
  std::map<std::pair<uint32_t, ClockKey>, uint64_t> failures_;  // packets, by machine and clock
  MachineFacts ignored_;  // of machines beyond those that are kept
  uint64_t packets_since_stats_ = 0;
  size_t holes_kept_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TRACE_TRACE_SCAN_H_
