#ifndef RINGSCOPE_FORMATS_TRACE_SERVICE_EVENTS_H_
#define RINGSCOPE_FORMATS_TRACE_SERVICE_EVENTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "core/ids.h"

namespace ringscope {

/// Events of a session that the service writes into the trace, by their field of service_event.
/// Source: the traces of recorded sessions, whose configs and times tell what happened when.
enum ServiceEvent : uint32_t {
  kAllDataSourcesStarted = 1,
  kTracingStarted = 2,
  kAllDataSourcesFlushed = 3,
  kBuffersRead = 4,
  kTracingDisabled = 5,
  kFlushStarted = 9,
};

/// The event that a service_event message tells; nullopt: none.
std::optional<uint32_t> ServiceEventIn(Bytes message);
/// "tracing started"; "event 17" where it is not known.
std::string ServiceEventName(uint32_t event);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_SERVICE_EVENTS_H_
