#include "core/perfetto/packet_facts.h"

#include <fmt/format.h>

#include <array>

namespace ringscope {
namespace {

/// Fields that accompany the content and are not content themselves, as bits.
constexpr std::array<uint64_t, 2> kAccessories = [] {
  std::array<uint64_t, 2> bits{};
  for (const uint32_t field :
       {proto::TracePacket::kTrustedUid, proto::TracePacket::kTimestamp,
        proto::TracePacket::kTrustedPacketSequenceId, proto::TracePacket::kSequenceFlags,
        proto::TracePacket::kIncrementalStateCleared, proto::TracePacket::kPreviousPacketDropped,
        proto::TracePacket::kTimestampClockId, proto::TracePacket::kTrustedPid,
        proto::TracePacket::kFirstPacketOnSequence, proto::TracePacket::kMachineId})
    bits[field / 64] |= uint64_t{1} << field % 64;
  return bits;
}();
constexpr bool IsAccessory(uint32_t field) {
  return field < 128 && (kAccessories[field / 64] >> field % 64 & 1) != 0;
}

/// The clock that TracePacketDefaults names, if any.
std::optional<uint32_t> DefaultClock(Bytes defaults) {
  wire::FieldReader reader(defaults);
  while (const auto field = reader.Next())
    if (field->number == proto::TracePacketDefaults::kTimestampClockId)
      return static_cast<uint32_t>(field->value);
  return std::nullopt;
}

}  // namespace

Bytes Joined(std::span<const Bytes> slices, std::string& scratch) {
  if (slices.size() == 1) return slices.front();
  scratch.clear();
  for (const Bytes slice : slices) scratch += wire::AsText(slice);
  return wire::AsBytes(scratch);
}

PacketFacts ReadPacketFacts(Bytes packet, Bytes* content, SizesAre sizes) {
  PacketFacts facts;
  uint64_t flags = 0;
  bool cleared = false;
  Bytes message;  // the content
  const auto note_content = [&](uint32_t field, Bytes bytes) {
    // Interned data and defaults accompany most content; they count as content only if alone.
    const auto is_minor = [](uint32_t n) {
      return n == proto::TracePacket::kInternedData ||
             n == proto::TracePacket::kTracePacketDefaults;
    };
    if (IsAccessory(field)) return;
    if (facts.content != 0 && (!is_minor(facts.content) || is_minor(field))) return;
    facts.content = field;
    message = bytes;
  };
  const uint8_t* at = packet.data();
  const uint8_t* const end = at + packet.size();
  bool whole = true;
  while (at != end) {
    wire::VisitedField field;
    const uint8_t* const next = wire::TakeField(at, end, field);
    if (next == nullptr) {
      whole = false;
      break;
    }
    if (sizes == SizesAre::kMissing && field.type == wire::Type::kBytes) {
      note_content(field.number, field.bytes);
      break;
    }
    at = next;
    note_content(field.number, field.bytes);
    facts.has_interned_data |= field.number == proto::TracePacket::kInternedData;
    if (field.number == proto::TracePacket::kTracePacketDefaults)
      facts.default_clock = DefaultClock(field.bytes);
    if (field.type != wire::Type::kVarint) continue;
    switch (field.number) {
      case proto::TracePacket::kTimestamp:
        // The first one counts: after a size that still waits for its patch, the bytes of a nested
        // message can look like fields of the packet.
        if (!facts.timestamp) facts.timestamp = field.value;
        break;
      case proto::TracePacket::kTimestampClockId:
        if (!facts.timestamp_clock) facts.timestamp_clock = static_cast<uint32_t>(field.value);
        break;
      case proto::TracePacket::kSequenceFlags:
        flags = field.value;
        break;
      case proto::TracePacket::kIncrementalStateCleared:
        cleared = field.value != 0;
        break;
      case proto::TracePacket::kPreviousPacketDropped:
        facts.dropped = static_cast<uint32_t>(field.value);
        break;
      default:
        break;
    }
  }
  if (!whole) {
    // In a packet of several fragments, the field that reaches beyond this fragment is the one that
    // matters.
    const Bytes rest(at, end);
    const wire::Varint tag = wire::ReadVarint(rest);
    const auto type = static_cast<wire::Type>(tag.value & 7);
    if (tag.size > 0 && type == wire::Type::kBytes && tag.value >> 3 <= UINT32_MAX >> 3) {
      const Bytes sized = rest.subspan(tag.size);
      note_content(static_cast<uint32_t>(tag.value >> 3),
                   sized.subspan(wire::ReadVarint(sized).size));
    }
  }
  facts.clears_state =
      cleared || (flags & proto::TracePacket::SequenceFlags::kSeqIncrementalStateCleared) != 0;
  facts.needs_state = (flags & proto::TracePacket::SequenceFlags::kSeqNeedsIncrementalState) != 0;
  if (content != nullptr) *content = message;
  return facts;
}

std::string ContentName(uint32_t content) {
  if (content == 0) return "unknown";
  for (const auto& [number, name] : proto::kTracePacketFields)
    if (number == content) return name;
  return fmt::format("field {}", content);
}

std::string ContentText(uint32_t content, std::string_view kind) {
  std::string text = ContentName(content);
  if (!kind.empty()) text.append(": ").append(kind);
  return text;
}

}  // namespace ringscope
