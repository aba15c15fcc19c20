#ifndef RINGSCOPE_FORMATS_TRACE_SERVICE_PACKETS_H_
#define RINGSCOPE_FORMATS_TRACE_SERVICE_PACKETS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.h"
#include "formats/io/output_file.h"

namespace ringscope {

/// The event in a TracingServiceEvent message, by its field number (proto::TracingServiceEvent), or
/// nullopt if it has none.
std::optional<uint32_t> ServiceEventIn(Bytes message);
/// Returns "tracing started", or "event 17" if it is not known.
std::string ServiceEventName(uint32_t event);

/// The first packet of the trace files that ringscope writes, with its field: a SystemInfo that
/// names this program where that of a service has the service's version.
std::string ToolPacket();
/// Returns true if a trace begins with it, as any version wrote it.
bool BeginsWithToolPacket(Bytes start);
inline constexpr OutputKind kTraceOutput = {"a trace", false, BeginsWithToolPacket};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_SERVICE_PACKETS_H_
