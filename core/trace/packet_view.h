#ifndef RINGSCOPE_CORE_TRACE_PACKET_VIEW_H_
#define RINGSCOPE_CORE_TRACE_PACKET_VIEW_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/ids.h"

namespace ringscope {

/// A packet of a trace file.
struct RawPacket {
  /// In the (decompressed) file: of its field, or of that of the packet that holds it compressed.
  uint64_t offset = 0;
  Bytes bytes;  // the TracePacket message; valid until the next one is read
};

/// The top-level fields of a packet of a trace file, as trace processor takes them: of a number the
/// last value counts, whoever wrote it.
struct TracePacketView {
  bool is_well_formed = true;  // false: all fields before the first malformed byte are here
  /// A field has a type that it has not in a TracePacket: the message is none.
  bool is_alien = false;
  bool has_sequence_id = false;
  uint32_t sequence_id = 0;  // trusted_packet_sequence_id
  uint32_t machine = 0;      // 0: the service's own
  uint32_t dropped = 0;      // previous_packet_dropped
  bool clears_state = false;
  bool needs_state = false;
  std::optional<int32_t> uid, pid;  // trusted ones
  std::optional<uint64_t> timestamp;
  std::optional<uint32_t> timestamp_clock;
  std::optional<Bytes> defaults;       // TracePacketDefaults
  std::optional<Bytes> interned_data;  // InternedData
  /// Number of the field that holds the packet's data; 0: there is none. Interned data and defaults
  /// are never it.
  uint32_t content = 0;
  Bytes content_bytes;  // of a message
};
/// Returns true if the message has a field that only a TracePacket has: what every protobuf message
/// has in its first fields does not count.
bool IsTracePacket(const TracePacketView& packet);
/// Reads a TracePacket message.
TracePacketView ViewTracePacket(Bytes packet);

/// A packet without the fields that the service appended to it.
struct ProducerPart {
  Bytes bytes;           // all of the packet, if it does not end with exactly these fields
  uint32_t dropped = 0;  // previous_packet_dropped as appended; as the view has it if none were
};
/// @param view of the packet
ProducerPart SplitAppended(Bytes packet, const TracePacketView& view);

/// A kind of packet, by the field of TracePacket that holds its data.
struct PacketKind {
  const char* source = "";     // the data source of Perfetto that writes it; empty: any, or none
  bool has_events = true;      // its time is that of an event: it extends the bounds of the trace
  bool is_of_service = false;  // only the tracing service writes it
};
/// Returns the kind of a content; of one that is not in the table, the kind has no source.
/// Source: the facts of trace processor's bounds, of the fields that are reserved for the service,
/// and of Perfetto's data sources.
const PacketKind& KindOf(uint32_t content);

/// Returns true if the service wrote the packet, by its fields: tools write packets with the
/// service's sequence id, too.
bool IsOfService(const TracePacketView& packet);

/// A data source that Perfetto has, or that a well-known producer registers.
struct KnownSource {
  const char* name;
  const char* producer = "";  // that registers it; empty: several do, or it is not known
  std::array<uint32_t, 4> contents = {};  // of its packets alone; 0: none
};
/// Returns the data source, or nullptr if none has this name. Vendors append to names, after a dot.
const KnownSource* FindKnownSource(std::string_view name);
/// Returns the known name that is meant by an unknown one: the nearest, or the only one with the
/// same last part.
std::optional<std::string_view> MeantSource(std::string_view name);
/// Returns true if packets of the data source can have this content: Chrome's older data source
/// writes track events, too.
bool Writes(std::string_view source, uint32_t content);
/// Returns true if the data source's packets can be known by a content.
bool HasOwnContent(std::string_view source);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TRACE_PACKET_VIEW_H_
