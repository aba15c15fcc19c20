#ifndef RINGSCOPE_CORE_PERFETTO_PACKET_H_
#define RINGSCOPE_CORE_PERFETTO_PACKET_H_

#include <cstdint>
#include <span>

#include "core/base/ids.h"

namespace ringscope {

/// Where in its sequence a packet is: what distinguishes packets, whatever their content.
struct PacketPlace {
  ChunkId first_chunk{};      // holds the packet's first fragment
  uint32_t first_offset = 0;  // of that fragment's size varint, from the payload's first byte
  ChunkId last_chunk{};       // holds its last fragment

  friend bool operator==(const PacketPlace&, const PacketPlace&) = default;
};

/// The place of a packet that an engine returned without reporting its place.
inline constexpr PacketPlace kUnknownPlace{
    .first_chunk = {}, .first_offset = UINT32_MAX, .last_chunk = {}};

/// A packet as a buffer returns it: slices of the buffer's own storage, valid until the next call
/// of the engine that returned it.
struct Packet {
  SequenceKey sequence;
  Identity identity;
  uint32_t dropped = 0;  // previous_packet_dropped: LossBit values, or 0 and 1
  std::span<const Bytes> slices;
  uint64_t size = 0;  // bytes, sum over the slices
  PacketPlace place;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_PACKET_H_
