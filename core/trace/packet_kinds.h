#ifndef RINGSCOPE_CORE_TRACE_PACKET_KINDS_H_
#define RINGSCOPE_CORE_TRACE_PACKET_KINDS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/trace/packet_view.h"

namespace ringscope {

/// A kind of packet, by the field of TracePacket that holds its data.
struct PacketKind {
  uint32_t content = 0;
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
};
/// Returns the data source, or nullptr if none has this name. Vendors append to names, after a dot.
const KnownSource* FindKnownSource(std::string_view name);
/// Returns the known name that is meant by an unknown one: the nearest, or the only one with the
/// same last part.
std::optional<std::string_view> MeantSource(std::string_view name);
/// Returns true if packets of the data source can have this content: Chrome's older data source
/// writes track events, too.
bool Writes(std::string_view source, uint32_t content);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TRACE_PACKET_KINDS_H_
