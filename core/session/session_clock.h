#ifndef RINGSCOPE_CORE_SESSION_SESSION_CLOCK_H_
#define RINGSCOPE_CORE_SESSION_SESSION_CLOCK_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/enum_names.h"
#include "core/log/op.h"
#include "core/perfetto/clocks.h"

namespace ringscope {

/// From when on times are counted.
enum class TimeBase : uint8_t {
  kSession,  // the session's first record, as the Perfetto UI does
  kBoot,     // CLOCK_BOOTTIME, as logs and traces have it
  kWall,     // CLOCK_REALTIME, UTC
};
template <>
inline constexpr std::array kEnumNames<TimeBase> = {"session", "boot", "wall"};

/// The times of a session's records, as people want to read them.
class SessionClock {
 public:
  explicit SessionClock(TimeBase base = TimeBase::kSession) : base_(base) {}

  /// The session's next record: its first time, and what clock snapshots tell of the time of day.
  void AddRecord(const Op& op);
  TimeBase base() const { return base_; }
  /// Time of the session's first record that has one, ns; 0: none has.
  uint64_t start_ns() const { return start_ns_.value_or(0); }
  /// Returns the time of day less CLOCK_BOOTTIME, modulo 2^64; absent if it is not known.
  std::optional<uint64_t> wall_offset_ns() const {
    return wall_offset_ns_ ? std::optional(0 - *wall_offset_ns_) : std::nullopt;
  }
  /// "1.837 s", "81.204131007 s" since boot, "2026-11-22 21:04:18.204131 UTC".
  /// @param boot_ns CLOCK_BOOTTIME; the time of day of it is "?" before the first clock snapshot
  std::string Text(uint64_t boot_ns) const;

 private:
  TimeBase base_;
  std::optional<uint64_t> start_ns_;
  Clocks clocks_;
  std::optional<uint64_t> wall_offset_ns_;  // CLOCK_BOOTTIME less CLOCK_REALTIME, modulo 2^64
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_SESSION_CLOCK_H_
