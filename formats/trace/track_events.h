#ifndef RINGSCOPE_FORMATS_TRACE_TRACK_EVENTS_H_
#define RINGSCOPE_FORMATS_TRACE_TRACK_EVENTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "formats/trace/perfetto_trace.h"

namespace ringscope {

/// Writes tracks and their events: Perfetto's track events, as trace processor and the UI read
/// them. Times are in the trace's clock (CLOCK_BOOTTIME), ns. The first error stays.
class TrackEventWriter {
 public:
  /// A track's number in the trace (its uuid).
  enum class Track : uint64_t { kNone = 0 };
  /// A value that the UI shows beside an event.
  struct Arg {
    const char* name;
    std::variant<uint64_t, std::string> value;
  };
  using Args = std::vector<Arg>;

  /// @param trace must outlive this
  /// @param number of the writer, of several whose packets are in one file
  /// @param clock of the times; 0: the one that a trace's packets have by default
  explicit TrackEventWriter(TraceWriter& trace, uint32_t number = 0, uint32_t clock = 0)
      : trace_(trace), number_(number), clock_(clock) {}
  /// Returns true for the trusted_packet_sequence_id of such a writer.
  static bool IsOwnSequence(uint32_t id);

  Track AddTrack(std::string_view name, Track parent = Track::kNone);
  /// Of bytes.
  Track AddCounter(std::string_view name, Track parent);

  void Begin(Track track, uint64_t time_ns, std::string_view name, const Args& args);
  void End(Track track, uint64_t time_ns, const Args& args);
  void Instant(Track track, uint64_t time_ns, std::string_view name, const Args& args = {});
  void Counter(Track track, uint64_t time_ns, uint64_t value);

  const Status& status() const { return status_; }

 private:
  Track Describe(std::string_view name, Track parent, const std::string* counter);
  void WriteEvent(uint64_t type, Track track, uint64_t time_ns, std::string_view name,
                  const Args& args, std::optional<uint64_t> value = {});
  void Write(std::optional<uint64_t> time_ns, uint32_t field, const std::string& content);

  TraceWriter& trace_;
  const uint32_t number_;
  const uint32_t clock_;
  Status status_;
  uint64_t tracks_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_TRACK_EVENTS_H_
