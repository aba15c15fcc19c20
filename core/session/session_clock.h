#ifndef RINGSCOPE_CORE_SESSION_SESSION_CLOCK_H_
#define RINGSCOPE_CORE_SESSION_SESSION_CLOCK_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/log/op.h"
#include "core/perfetto/clocks.h"

namespace ringscope {

/// The times of a session's records as people read them: from its first record on, as in the
/// Perfetto UI.
class SessionClock {
 public:
  /// The session's next record: its first time, and what clock snapshots tell of the time of day.
  void AddRecord(const Op& op);
  /// Time of the session's first record that has one, ns; 0: none has.
  uint64_t start_ns() const { return start_ns_.value_or(0); }
  /// Returns the time of day less CLOCK_BOOTTIME, modulo 2^64; absent if it is not known.
  std::optional<uint64_t> wall_offset_ns() const {
    return wall_offset_ns_ ? std::optional(0 - *wall_offset_ns_) : std::nullopt;
  }
  /// "1.837 s"
  /// @param boot_ns CLOCK_BOOTTIME
  std::string Text(uint64_t boot_ns) const;

 private:
  std::optional<uint64_t> start_ns_;
  Clocks clocks_;
  std::optional<uint64_t> wall_offset_ns_;  // CLOCK_BOOTTIME less CLOCK_REALTIME, modulo 2^64
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_SESSION_CLOCK_H_
