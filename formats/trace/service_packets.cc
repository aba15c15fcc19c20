#include "formats/trace/service_packets.h"

#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope {

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

}  // namespace ringscope
