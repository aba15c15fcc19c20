#ifndef RINGSCOPE_CORE_BASE_PACKET_COUNT_H_
#define RINGSCOPE_CORE_BASE_PACKET_COUNT_H_

#include <cstdint>

namespace ringscope {

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

#endif  // RINGSCOPE_CORE_BASE_PACKET_COUNT_H_
