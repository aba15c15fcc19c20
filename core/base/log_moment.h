#ifndef RINGSCOPE_CORE_BASE_LOG_MOMENT_H_
#define RINGSCOPE_CORE_BASE_LOG_MOMENT_H_

#include <cstdint>
#include <optional>

namespace ringscope {

/// A moment of a log: the current record and its time.
struct LogMoment {
  std::optional<uint64_t> record;   // its number, if there was one yet
  std::optional<uint64_t> time_ns;  // the last time that a record had up to there

  friend bool operator==(const LogMoment&, const LogMoment&) = default;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_BASE_LOG_MOMENT_H_
