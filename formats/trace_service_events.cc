#include "formats/trace_service_events.h"

#include <fmt/format.h>

#include "core/wire.h"

namespace ringscope {

std::optional<uint32_t> ServiceEventIn(Bytes message) {
  wire::FieldReader fields(message);
  const auto field = fields.Next();
  return field ? std::optional<uint32_t>(field->number) : std::nullopt;
}

std::string ServiceEventName(uint32_t event) {
  switch (event) {
    case kAllDataSourcesStarted:
      return "all data sources started";
    case kTracingStarted:
      return "tracing started";
    case kAllDataSourcesFlushed:
      return "all data sources flushed";
    case kBuffersRead:
      return "buffers read";
    case kTracingDisabled:
      return "tracing disabled";
    case kFlushStarted:
      return "flush started";
    default:
      return fmt::format("event {}", event);
  }
}

}  // namespace ringscope
