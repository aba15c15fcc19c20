#include "commands/record/pass_reader.h"

#include <utility>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

/// trusted_packet_sequence_id of what the service writes itself.
constexpr uint64_t kServiceSequence = 1;

}  // namespace

std::optional<uint64_t> PassReader::Add(Bytes reply) {
  wire::FieldReader reader(reply);
  while (const auto field = reader.Next()) {
    if (!field->IsBytes(proto::ReadBuffersResponse::kSlices)) continue;
    bool is_last = false;
    wire::FieldReader slice(field->bytes);
    while (const auto part = slice.Next()) {
      if (part->number == proto::Slice::kLastSliceForPacket) is_last = part->value != 0;
      if (part->number == proto::Slice::kData && !found_other_)
        packet_ += wire::AsText(part->bytes);
    }
    within_packet_ = !is_last && !field->bytes.empty();
    if (is_last) OnPacket();
  }
  if (within_packet_) return std::nullopt;
  found_other_ = false;
  packet_.clear();
  return std::exchange(own_bytes_, 0);
}

void PassReader::OnPacket() {
  if (found_other_) return;
  found_other_ = true;
  bool has_states = false;  // of programs (ProtoVM), which a replay counts by itself
  wire::FieldReader reader(wire::AsBytes(packet_));
  while (const auto field = reader.Next()) {
    has_states |= field->number == proto::TracePacket::kProtoVms;
    if (field->number == proto::TracePacket::kTrustedPacketSequenceId)
      found_other_ = field->value != kServiceSequence;
  }
  if (!found_other_ && !has_states) own_bytes_ += packet_.size();
  packet_.clear();
}

}  // namespace ringscope
