#ifndef RINGSCOPE_CORE_TRACE_PACKET_VIEW_H_
#define RINGSCOPE_CORE_TRACE_PACKET_VIEW_H_

#include <cstdint>
#include <optional>

#include "core/base/ids.h"
#include "core/perfetto/packet.h"

namespace ringscope {

/// The top-level fields of a packet of a trace file, as trace processor takes them: of a number the
/// last value counts, whoever wrote it.
struct TracePacketView {
  bool is_well_formed = true;  // false: all fields before the first malformed byte are here
  bool has_sequence_id = false;
  uint32_t sequence_id = 0;  // trusted_packet_sequence_id
  uint32_t machine = 0;      // 0: the service's own
  uint32_t dropped = 0;      // previous_packet_dropped
  bool clears_state = false;
  bool needs_state = false;
  bool has_interned_data = false;
  std::optional<int32_t> pid;
  std::optional<uint64_t> timestamp;
  std::optional<uint32_t> timestamp_clock;
  std::optional<Bytes> defaults;  // TracePacketDefaults
  /// Number of the field that holds the packet's data; 0: there is none. Interned data and defaults
  /// are never it.
  uint32_t content = 0;
  Bytes content_bytes;  // of a message
};

/// Reads a TracePacket message.
void ViewTracePacket(Bytes packet, TracePacketView& view);
inline TracePacketView ViewTracePacket(Bytes packet) {
  TracePacketView view;
  ViewTracePacket(packet, view);
  return view;
}

/// What there is to know of most packets of a trace file to commit them as their producers did:
/// packets as the service writes them of a producer, valid, with its fields at their end and
/// nowhere else, whose events have the packet's own time. Such packets have few fields, so that
/// they are read once, and what they say need not be kept to be understood.
struct BriefPacket {
  uint64_t timestamp = 0;
  uint32_t content_size = 0;  // bytes that the producer wrote; they are the packet's first ones
  uint32_t content = 0;       // number of the field that holds the packet's data
  uint32_t sequence_id = 0;
  uint32_t timestamp_clock = 0;
  uint32_t machine = 0;  // 0: the service's own
  uint32_t dropped = 0;  // previous_packet_dropped, as the service appended it
  Identity identity;     // pid -1: the packet has none
  bool has_timestamp = false;
  bool has_timestamp_clock = false;
  bool clears_state = false;
  bool needs_state = false;

  /// As ViewTracePacket sees the producer's bytes, but with the service's sequence id, machine and
  /// loss bits, and without the content's bytes and the interned data.
  TracePacketView View() const;
};

/// Reads a TracePacket message of a trace file.
/// @return false: it is not one of these, and has to be read by SplitTracePacket
bool ReadBriefPacket(Bytes packet, BriefPacket& brief);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TRACE_PACKET_VIEW_H_
