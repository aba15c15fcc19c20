#ifndef RINGSCOPE_FORMATS_TESTING_TRACE_PACKET_H_
#define RINGSCOPE_FORMATS_TESTING_TRACE_PACKET_H_

#include <optional>

#include "core/base/result.h"
#include "core/trace/packet_view.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope::testing {

/// A packet of a trace file with the trusted fields found in it.
struct TracePacket : RawPacket {
  explicit TracePacket(const RawPacket& raw) : RawPacket(raw) {
    const ProducerPart part = SplitAppended(bytes, view);
    content = part.bytes;
    dropped = part.dropped;
  }

  TracePacketView view = ViewTracePacket(bytes);
  Bytes content;         // without the fields that the service appended, where these are its end
  uint32_t dropped = 0;  // previous_packet_dropped, see ProducerPart
};

/// Returns the next packet; nullopt at the file's clean end.
inline Result<std::optional<TracePacket>> NextPacket(TraceReader& reader) {
  RawPacket packet;
  RS_ASSIGN_OR_RETURN(const bool more, reader.Next(packet));
  if (!more) return std::nullopt;
  return TracePacket(packet);
}

}  // namespace ringscope::testing

#endif  // RINGSCOPE_FORMATS_TESTING_TRACE_PACKET_H_
