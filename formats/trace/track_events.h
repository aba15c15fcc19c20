#ifndef RINGSCOPE_FORMATS_TRACE_TRACK_EVENTS_H_
#define RINGSCOPE_FORMATS_TRACE_TRACK_EVENTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ringscope {

/// A value that the UI shows beside an event.
struct EventArg {
  const char* name;
  std::variant<uint64_t, std::string> value;
};

/// A slice of a track, or an instant if it has no length. Times are in the trace's clock, ns.
struct TrackSlice {
  int64_t from_ns = 0;
  int64_t to_ns = 0;
  std::string name;
  std::vector<EventArg> args;
  uint64_t flow = 0;       // slices of one number are joined by an arrow; 0: none
  bool ends_flow = false;  // the arrow points at this one
  uint64_t joined = 1;     // slices that are one, as there were too many

  /// Adds the slice that follows: packets and bytes are summed, what else differs is left out.
  void Join(const TrackSlice& next);
};

/// A track of a trace, and the tracks below it. Memory: kMost slices or samples of each track;
/// beyond, neighbours are joined.
class EventTrack {
 public:
  static constexpr size_t kMost = size_t{1} << 16;
  enum class Unit : uint8_t { kNone = 0, kTime = 1, kCount = 2, kBytes = 3 };  // CounterDescriptor

  explicit EventTrack(std::string name = {}) : name_(std::move(name)) {}

  /// @param unit of a counter's track
  EventTrack& Add(std::string name, Unit unit = Unit::kNone);
  /// The track that the trace describes with this uuid.
  EventTrack& AddKnown(uint64_t uuid);
  /// The track of a process, or below 1 that of what is of none. @param name for a new one
  EventTrack& OfProcess(int32_t pid, const std::string& name);

  /// Adds a slice, in order of time.
  void AddSlice(TrackSlice slice);
  void AddSlices(const std::vector<TrackSlice>& slices) {
    for (const TrackSlice& slice : slices) AddSlice(slice);
  }
  void AddInstant(int64_t ns, std::string name, std::vector<EventArg> args = {}) {
    AddSlice({.from_ns = ns, .to_ns = ns, .name = std::move(name), .args = std::move(args)});
  }
  /// Adds a counter's value from this time on, in order of time.
  void AddSample(int64_t ns, uint64_t value);

 private:
  friend class TrackEncoder;
  struct Sample {
    int64_t ns;
    uint64_t value;
  };

  std::string name_;
  uint64_t known_uuid_ = 0;
  std::optional<int32_t> pid_;
  Unit unit_ = Unit::kNone;
  std::vector<TrackSlice> slices_;
  std::vector<Sample> samples_;
  int64_t step_ns_ = 0;  // samples closer than this replace each other
  std::vector<std::unique_ptr<EventTrack>> children_;
  std::map<int32_t, EventTrack*> processes_;  // of these
};

/// Tracks as packets of a trace.
struct EncodedTracks {
  std::string packets;
  uint64_t slices = 0;
  uint64_t left_out = 0;  // slices that end before `after_ns`
};

struct TrackOptions {
  uint32_t number = 0;           // of the tracks, of several whose packets are in one file
  uint32_t clock = 0;            // of the times; 0: the one that a trace's packets have by default
  int64_t after_ns = 0;          // what is before is cut off: trace processor would drop it
  size_t most_bytes = SIZE_MAX;  // neighbours are joined until the packets take no more
};

/// Encodes all tracks below a root as Perfetto's track events, as trace processor and the UI read
/// them. Tracks without anything on or below them are left out.
EncodedTracks EncodeTracks(const EventTrack& root, const TrackOptions& options);
/// Returns true for the trusted_packet_sequence_id of such packets.
bool IsOwnSequence(uint32_t id);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_TRACK_EVENTS_H_
