#include "formats/trace/service_packets.h"

#include <fmt/format.h>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/trusted_fields.h"
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

std::optional<ServicePacket> CloneEventOf(const Op& op, uint64_t clone, uint32_t index) {
  ServicePacket packet{.field = proto::TracePacket::kServiceEvent, .timestamp = op.time_ns};
  const auto* requested = std::get_if<CloneRequested>(&op.body);
  const auto* cloned = std::get_if<BufferCloned>(&op.body);
  if (requested != nullptr && requested->clone == clone)
    wire::AppendUint(packet.content, proto::ServiceEvent::kCloneStarted, 1);
  else if (cloned != nullptr && cloned->clone == clone)
    wire::AppendUint(packet.content, proto::ServiceEvent::kBufferCloned, index);
  else
    return std::nullopt;
  return packet;
}

std::optional<ServicePacket> CloneTriggerOf(Bytes request) {
  using Request = proto::CloneSessionRequest;
  using Trigger = proto::ReceivedTrigger;
  ServicePacket packet{.field = proto::TracePacket::kCloneSnapshotTrigger};
  bool is_named = false;
  wire::FieldReader fields(request);
  while (const auto field = fields.Next()) {
    const bool is_text = field->type == wire::Type::kBytes;
    const bool is_number = field->type == wire::Type::kVarint;
    if (field->number == Request::kTriggerName && is_text) {
      wire::AppendBytes(packet.content, Trigger::kName, field->bytes);
      is_named = true;
    } else if (field->number == Request::kTriggerProducerName && is_text) {
      wire::AppendBytes(packet.content, Trigger::kProducerName, field->bytes);
    } else if (field->number == Request::kTriggerProducerUid && is_number) {
      wire::AppendUint(packet.content, Trigger::kProducerUid, field->value);
    } else if (field->number == Request::kTriggerBootTimeNs && is_number) {
      packet.timestamp = field->value;
    } else if (field->number == Request::kTriggerDelayMs && is_number) {
      wire::AppendUint(packet.content, Trigger::kStopDelayMs, field->value);
    }
  }
  return is_named ? std::optional(std::move(packet)) : std::nullopt;
}

std::string ToolPacket(std::string_view mark) {
  std::string info, packet, out;
  wire::AppendBytes(info, proto::SystemInfo::kTracingServiceVersion,
                    wire::AsBytes(fmt::format("{} {}{}", kToolName, kToolVersion, mark)));
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
