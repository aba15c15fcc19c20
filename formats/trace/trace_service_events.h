#ifndef RINGSCOPE_FORMATS_TRACE_TRACE_SERVICE_EVENTS_H_
#define RINGSCOPE_FORMATS_TRACE_TRACE_SERVICE_EVENTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/ids.h"

namespace ringscope {

/// The event in a TracingServiceEvent message, by its field number (proto::ServiceEvent); nullopt:
/// none.
std::optional<uint32_t> ServiceEventIn(Bytes message);
/// "tracing started"; "event 17" where it is not known.
std::string ServiceEventName(uint32_t event);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_TRACE_TRACE_SERVICE_EVENTS_H_
