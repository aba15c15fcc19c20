#include "formats/trace/service_packets.h"

#include <fmt/format.h>

#include <utility>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/packet_facts.h"
#include "formats/io/tool_version.h"

namespace ringscope {
namespace {

/// The first field of a message, if it is whole and has this number; else empty.
Bytes FirstField(Bytes message, uint32_t number) {
  wire::FieldReader fields(message);
  const auto field = fields.Next();
  return field && field->IsBytes(number) ? field->bytes : Bytes();
}

}  // namespace

std::string ToolPacket() {
  std::string info, packet, out;
  wire::AppendBytes(info, proto::SystemInfo::kTracingServiceVersion,
                    wire::AsBytes(fmt::format("{} {}", kToolName, kToolVersion)));
  wire::AppendBytes(packet, proto::TracePacket::kSystemInfo, wire::AsBytes(info));
  AppendTrustedFields(packet, Identity{.uid = 0, .pid = -1}, kServiceSequenceId, 0);
  wire::AppendBytes(out, proto::Trace::kPacket, wire::AsBytes(packet));
  return out;
}

bool BeginsWithToolPacket(Bytes start) {
  const Bytes info =
      FirstField(FirstField(start, proto::Trace::kPacket), proto::TracePacket::kSystemInfo);
  return wire::AsText(FirstField(info, proto::SystemInfo::kTracingServiceVersion))
      .starts_with(fmt::format("{} ", kToolName));
}

std::optional<uint32_t> ServiceEventIn(Bytes message) {
  wire::FieldReader fields(message);
  const auto field = fields.Next();
  return field ? std::optional<uint32_t>(field->number) : std::nullopt;
}

std::string ServiceEventName(uint32_t event) {
  using Event = proto::TracingServiceEvent;
  constexpr std::pair<uint32_t, const char*> kNames[] = {
      {Event::kAllDataSourcesStarted, "all data sources started"},
      {Event::kTracingStarted, "tracing started"},
      {Event::kAllDataSourcesFlushed, "all data sources flushed"},
      {Event::kReadTracingBuffersCompleted, "buffers read"},
      {Event::kTracingDisabled, "tracing disabled"},
      {Event::kFlushStarted, "flush started"}};
  for (const auto& [known, name] : kNames)
    if (known == event) return name;
  return fmt::format("event {}", event);
}

}  // namespace ringscope
