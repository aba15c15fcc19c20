#include "formats/trace/trace_service_events.h"

#include <fmt/format.h>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope {

std::optional<uint32_t> ServiceEventIn(Bytes message) {
  wire::FieldReader fields(message);
  const auto field = fields.Next();
  return field ? std::optional<uint32_t>(field->number) : std::nullopt;
}

std::string ServiceEventName(uint32_t event) {
  switch (event) {
    case proto::ServiceEvent::kAllDataSourcesStarted:
      return "all data sources started";
    case proto::ServiceEvent::kTracingStarted:
      return "tracing started";
    case proto::ServiceEvent::kAllDataSourcesFlushed:
      return "all data sources flushed";
    case proto::ServiceEvent::kReadTracingBuffersCompleted:
      return "buffers read";
    case proto::ServiceEvent::kTracingDisabled:
      return "tracing disabled";
    case proto::ServiceEvent::kFlushStarted:
      return "flush started";
    default:
      return fmt::format("event {}", event);
  }
}

}  // namespace ringscope
