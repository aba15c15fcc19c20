#include "core/trace/session_split.h"

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/trusted_fields.h"

namespace ringscope {

auto SessionSplit::PlaceOf(const TracePacketView& packet) -> Place {
  switch (packet.content) {
    case proto::TracePacket::kTraceConfig:
      return PlaceOfOpening(has_config_ || has_uuid_, has_config_);
    case proto::TracePacket::kTraceUuid:
      return PlaceOfOpening(has_uuid_, has_uuid_);
    case proto::TracePacket::kClockSnapshot:
    case proto::TracePacket::kSynchronizationMarker:
      if (packet.sequence_id > kServiceSequenceId) break;
      return has_content_ && (has_config_ || has_uuid_) ? Place::kPerhapsNext : Place::kSame;
    case proto::TracePacket::kTraceStats:
    case proto::TracePacket::kServiceEvent:
      has_content_ = true;
      return Place::kSame;
    default:
      break;
  }
  has_content_ |= packet.sequence_id != kServiceSequenceId;
  return Place::kSame;
}

/// @param was_opened the session has had its opening, which does not come twice
auto SessionSplit::PlaceOfOpening(bool was_opened, bool& has_this) -> Place {
  bool is_next = was_opened && has_content_;
  has_missed_ |= is_next && is_stopped_;
  is_next &= !is_stopped_;
  if (is_next) {
    has_config_ = has_uuid_ = has_content_ = false;
    if (++sessions_ == kMaxSessions) Stop();
  }
  has_this = true;
  return is_next ? Place::kNext : Place::kSame;
}

Status SessionSplit::Add(const RawPacket& packet, const TracePacketView& view) {
  const Place place = PlaceOf(view);
  if (place == Place::kPerhapsNext && kept_bytes_ + packet.bytes.size() <= kMaxKept) {
    kept_bytes_ += packet.bytes.size();
    kept_.push_back({packet, std::string(wire::AsText(packet.bytes))});
    return {};
  }
  if (place == Place::kNext)
    RS_RETURN_IF_ERROR(to_.OnNextSession((kept_.empty() ? packet : kept_.front().packet).offset));
  if (!kept_.empty()) RS_RETURN_IF_ERROR(Finish());
  return to_.OnPacket(packet, view);
}

Status SessionSplit::Finish() {
  kept_bytes_ = 0;
  for (Kept& kept : std::exchange(kept_, {})) {
    kept.packet.bytes = wire::AsBytes(kept.bytes);
    RS_RETURN_IF_ERROR(to_.OnPacket(kept.packet, ViewTracePacket(kept.packet.bytes)));
  }
  return {};
}

}  // namespace ringscope
