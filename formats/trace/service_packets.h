#ifndef RINGSCOPE_FORMATS_TRACE_SERVICE_PACKETS_H_
#define RINGSCOPE_FORMATS_TRACE_SERVICE_PACKETS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/log/op.h"
#include "formats/io/output_file.h"

namespace ringscope {

// Packets that the service itself writes into the trace of a clone: which clone it is, and when its
// buffers were cloned.

/// A field of a packet of the service.
struct ServicePacket {
  uint32_t field = 0;
  std::string content;                // of that field, a message
  std::optional<uint64_t> timestamp;  // ns, CLOCK_BOOTTIME
};

/// The lifecycle event of a clone that a record is: the clone was started, or its buffer was
/// cloned.
/// @param clone whose trace it is
/// @param index of the record's buffer in the trace config
std::optional<ServicePacket> CloneEventOf(const Op& op, uint64_t clone, uint32_t index);

/// The trigger for which a clone was requested; nullopt: the request names none.
/// @param request a CloneSessionRequest
std::optional<ServicePacket> CloneTriggerOf(Bytes request);

/// The event in a TracingServiceEvent message, by its field number (proto::ServiceEvent), or nullopt
/// if it has none.
std::optional<uint32_t> ServiceEventIn(Bytes message);
/// Returns "tracing started", or "event 17" if it is not known.
std::string ServiceEventName(uint32_t event);

// How a trace that ringscope wrote is known from one that a tracing service wrote.

/// The first packet of the trace files that ringscope writes, with its field: a SystemInfo that
/// names this program where that of a service has the service's version.
/// @param mark after the version: what the file is, if it is no trace of a session
std::string ToolPacket(std::string_view mark = {});
/// Whether a trace begins with it, as any version wrote it.
bool BeginsWithToolPacket(Bytes start);

inline constexpr OutputKind kTraceOutput = {"a trace", false, BeginsWithToolPacket};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_SERVICE_PACKETS_H_
