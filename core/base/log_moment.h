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

/// Packets and the bytes of their payload.
struct PacketCount {
  uint64_t packets = 0;
  uint64_t bytes = 0;

  PacketCount& operator+=(const PacketCount& other) {
    packets += other.packets, bytes += other.bytes;
    return *this;
  }
  friend PacketCount operator-(const PacketCount& all, const PacketCount& part) {
    return {all.packets - part.packets, all.bytes - part.bytes};
  }
  friend bool operator==(const PacketCount&, const PacketCount&) = default;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_BASE_LOG_MOMENT_H_
