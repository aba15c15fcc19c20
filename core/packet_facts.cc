#include "core/packet_facts.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "core/trusted_fields.h"
#include "core/wire.h"

namespace ringscope {
namespace {

// Numbers of TracePacket fields. Source: Perfetto's trace format.
enum PacketField : uint32_t {
  kTimestamp = 8,
  kInternedData = 12,
  kSequenceFlags = 13,
  kStateCleared = 41,
  kTimestampClockId = 58,
  kPacketDefaults = 59,
  kFirstOnSequence = 87,
};

enum SequenceFlag : uint64_t { kClearsState = 1, kNeedsState = 2 };

constexpr std::array<std::pair<uint32_t, const char*>, 14> kContentNames = {{
    {1, "ftrace_events"},
    {2, "process_tree"},
    {6, "clock_snapshot"},
    {9, "process_stats"},
    {11, "track_event"},
    {kInternedData, "interned_data"},
    {33, "trace_config"},
    {34, "ftrace_stats"},
    {35, "trace_stats"},
    {36, "synchronization_marker"},
    {kPacketDefaults, "trace_packet_defaults"},
    {60, "track_descriptor"},
    {69, "service_event"},
    {124, "trace_provenance"},
}};

/// Fields that stand beside the data, not for it.
bool IsAccessory(uint32_t field) {
  switch (field) {
    case kTrustedUid:
    case kTimestamp:
    case kTrustedSequenceId:
    case kSequenceFlags:
    case kStateCleared:
    case kPreviousPacketDropped:
    case kTimestampClockId:
    case kTrustedPid:
    case kFirstOnSequence:
    case kMachineId:
      return true;
    default:
      return false;
  }
}

/// The clock that TracePacketDefaults names, if any.
std::optional<uint32_t> DefaultClock(Bytes defaults) {
  wire::FieldReader reader(defaults);
  while (const std::optional<wire::Field> field = reader.Next()) {
    if (field->number == kTimestampClockId) return static_cast<uint32_t>(field->value);
  }
  return std::nullopt;
}

}  // namespace

PacketFacts ReadPacketFacts(Bytes packet) {
  PacketFacts facts;
  uint64_t flags = 0;
  bool cleared = false;
  const auto note_content = [&](uint32_t field) {
    // Interned data and defaults come with most content; they are it only if there is no other.
    const auto is_minor = [](uint32_t n) { return n == kInternedData || n == kPacketDefaults; };
    if (IsAccessory(field)) return;
    if (facts.content == 0 || (is_minor(facts.content) && !is_minor(field))) facts.content = field;
  };
  wire::FieldReader reader(packet);
  size_t at = 0;
  while (const std::optional<wire::Field> field = reader.Next()) {
    at = packet.size() - reader.remaining();
    note_content(field->number);
    facts.has_interned_data |= field->number == kInternedData;
    if (field->number == kPacketDefaults) facts.default_clock = DefaultClock(field->bytes);
    if (field->type != wire::Type::kVarint) continue;
    switch (field->number) {
      case kTimestamp:
        // The first one counts: behind a size that still waits for its patch, the bytes of a nested
        // message can look like fields of the packet.
        if (!facts.timestamp) facts.timestamp = field->value;
        break;
      case kTimestampClockId:
        if (!facts.timestamp_clock) facts.timestamp_clock = static_cast<uint32_t>(field->value);
        break;
      case kSequenceFlags:
        flags = field->value;
        break;
      case kStateCleared:
        cleared = field->value != 0;
        break;
      case kPreviousPacketDropped:
        facts.dropped = static_cast<uint32_t>(field->value);
        break;
      default:
        break;
    }
  }
  if (!reader.ok()) {
    // Of a packet in pieces, the field that reaches beyond this one is the one that matters.
    const wire::Varint tag = wire::ReadVarint(packet.subspan(at));
    const auto type = static_cast<wire::Type>(tag.value & 7);
    if (tag.size > 0 && type == wire::Type::kBytes && tag.value >> 3 <= UINT32_MAX >> 3)
      note_content(static_cast<uint32_t>(tag.value >> 3));
  }
  facts.clears_state = cleared || (flags & kClearsState) != 0;
  facts.needs_state = (flags & kNeedsState) != 0;
  return facts;
}

std::string ContentName(uint32_t content) {
  if (content == 0) return "unknown";
  for (const auto& [number, name] : kContentNames)
    if (number == content) return name;
  return fmt::format("field {}", content);
}

std::optional<uint32_t> ContentFromName(std::string_view name) {
  if (name == "unknown") return 0;
  for (const auto& [number, known] : kContentNames)
    if (name == known) return number;
  if (name.starts_with("field ")) name.remove_prefix(6);
  uint32_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace ringscope
