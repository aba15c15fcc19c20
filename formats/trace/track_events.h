#ifndef RINGSCOPE_FORMATS_TRACE_TRACK_EVENTS_H_
#define RINGSCOPE_FORMATS_TRACE_TRACK_EVENTS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "core/ledger/ledger.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope {

/// A moment of a log on the time axis of a trace, ns. A log without times takes a microsecond for
/// each record.
inline uint64_t TraceTime(const LogMoment& moment) {
  return moment.time_ns.value_or(moment.record.value_or(0) * 1000);
}

/// Writes tracks and what happens on them: Perfetto's track events, as trace processor and the UI
/// read them. Names and texts are interned. Times are in the trace's clock (CLOCK_BOOTTIME), ns.
/// The first error stays. Memory: O(different names and texts), with a limit.
class TrackEventWriter {
 public:
  /// A track's number in the trace (its uuid).
  enum class Track : uint64_t { kNone = 0 };
  struct Process {
    int32_t pid = 0;
    std::string name;
  };
  enum class Unit : uint64_t { kNone = 0, kNanoseconds = 1, kCount = 2, kBytes = 3 };

  /// A text of which there are many: it is not interned.
  struct Unique {
    std::string_view text;
  };
  /// A value that the UI shows beside an event.
  struct Arg {
    const char* name;
    std::variant<uint64_t, bool, std::string_view, Unique> value;
  };
  using Args = std::span<const Arg>;

  /// @param trace must outlive this
  explicit TrackEventWriter(TraceWriter& trace) : trace_(trace) {}

  Track AddTrack(std::string_view name, Track parent = Track::kNone);
  Track AddProcess(const Process& process);
  /// @param unit_name for a unit that has no number: "B/s"
  Track AddCounter(std::string_view name, Unit unit, Track parent, std::string_view unit_name = {});

  void Begin(Track track, uint64_t time_ns, std::string_view name, Args args = {});
  void End(Track track, uint64_t time_ns, Args args = {});
  /// @param flow_out an arrow starts here; @param flow_in one ends here; 0: none
  void Instant(Track track, uint64_t time_ns, std::string_view name, Args args = {},
               uint64_t flow_out = 0, uint64_t flow_in = 0);
  void Counter(Track track, uint64_t time_ns, uint64_t value);

  const Status& status() const { return status_; }

 private:
  /// Texts by which the sequence refers to numbers; those beyond a limit are written in full.
  struct HashOfText {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Interned = std::unordered_map<std::string, uint64_t, HashOfText, std::equal_to<>>;

  /// @param field of InternedData
  /// @return 0: it cannot be interned
  uint64_t Intern(uint32_t field, Interned& table, std::string_view text);
  /// Appends the text's number to `out`, or the text itself.
  void AddText(std::string& out, uint32_t iid_field, uint32_t text_field, uint32_t table_field,
               Interned& table, std::string_view text);
  Track AddDescriptor(std::string_view name, Track parent, uint32_t field,
                      const std::string& content);
  void StartEvent(uint64_t type, Track track, std::string_view name = {});
  void AddArgs(Args args);
  void WriteEvent(uint64_t time_ns);
  void Write(std::optional<uint64_t> time_ns, uint32_t field, const std::string& content);

  TraceWriter& trace_;
  Status status_;
  uint64_t tracks_ = 0;
  bool started_ = false;
  Interned categories_;
  Interned names_;
  Interned arg_names_;
  Interned texts_;
  std::string interned_;  // of the tables, not written yet
  std::string event_;     // under way
  std::string scratch_;
  std::string packet_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_TRACK_EVENTS_H_
