#include "core/perfetto/packet_facts.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

enum SequenceFlag : uint64_t { kClearsState = 1, kNeedsState = 2 };

constexpr std::array<std::pair<uint32_t, const char*>, 14> kContentNames = {{
    {proto::TracePacket::kFtraceEvents, "ftrace_events"},
    {proto::TracePacket::kProcessTree, "process_tree"},
    {proto::TracePacket::kClockSnapshot, "clock_snapshot"},
    {proto::TracePacket::kProcessStats, "process_stats"},
    {proto::TracePacket::kTrackEvent, "track_event"},
    {proto::TracePacket::kInternedData, "interned_data"},
    {proto::TracePacket::kTraceConfig, "trace_config"},
    {proto::TracePacket::kFtraceStats, "ftrace_stats"},
    {proto::TracePacket::kTraceStats, "trace_stats"},
    {proto::TracePacket::kSynchronizationMarker, "synchronization_marker"},
    {proto::TracePacket::kTracePacketDefaults, "trace_packet_defaults"},
    {proto::TracePacket::kTrackDescriptor, "track_descriptor"},
    {proto::TracePacket::kServiceEvent, "service_event"},
    {proto::TracePacket::kTraceProvenance, "trace_provenance"},
}};

/// Fields that accompany the content and are not content themselves.
bool IsAccessory(uint32_t field) {
  switch (field) {
    case proto::TracePacket::kTrustedUid:
    case proto::TracePacket::kTimestamp:
    case proto::TracePacket::kTrustedPacketSequenceId:
    case proto::TracePacket::kSequenceFlags:
    case proto::TracePacket::kIncrementalStateCleared:
    case proto::TracePacket::kPreviousPacketDropped:
    case proto::TracePacket::kTimestampClockId:
    case proto::TracePacket::kTrustedPid:
    case proto::TracePacket::kFirstPacketOnSequence:
    case proto::TracePacket::kMachineId:
      return true;
    default:
      return false;
  }
}

/// The clock that TracePacketDefaults names, if any.
std::optional<uint32_t> DefaultClock(Bytes defaults) {
  wire::FieldReader reader(defaults);
  while (const std::optional<wire::Field> field = reader.Next()) {
    if (field->number == proto::TracePacketDefaults::kTimestampClockId)
      return static_cast<uint32_t>(field->value);
  }
  return std::nullopt;
}

}  // namespace

Bytes Joined(std::span<const Bytes> slices, std::string& scratch) {
  if (slices.size() == 1) return slices.front();
  scratch.clear();
  for (const Bytes slice : slices) scratch += wire::AsText(slice);
  return wire::AsBytes(scratch);
}

PacketFacts ReadPacketFacts(Bytes packet) {
  PacketFacts facts;
  uint64_t flags = 0;
  bool cleared = false;
  const auto note_content = [&](uint32_t field) {
    // Interned data and defaults accompany most content; they count as content only if alone.
    const auto is_minor = [](uint32_t n) {
      return n == proto::TracePacket::kInternedData ||
             n == proto::TracePacket::kTracePacketDefaults;
    };
    if (IsAccessory(field)) return;
    if (facts.content == 0 || (is_minor(facts.content) && !is_minor(field))) facts.content = field;
  };
  wire::FieldReader reader(packet);
  size_t at = 0;
  while (const std::optional<wire::Field> field = reader.Next()) {
    at = packet.size() - reader.remaining();
    note_content(field->number);
    facts.has_interned_data |= field->number == proto::TracePacket::kInternedData;
    if (field->number == proto::TracePacket::kTracePacketDefaults)
      facts.default_clock = DefaultClock(field->bytes);
    if (field->type != wire::Type::kVarint) continue;
    switch (field->number) {
      case proto::TracePacket::kTimestamp:
        // The first one counts: after a size that still waits for its patch, the bytes of a nested
        // message can look like fields of the packet.
        if (!facts.timestamp) facts.timestamp = field->value;
        break;
      case proto::TracePacket::kTimestampClockId:
        if (!facts.timestamp_clock) facts.timestamp_clock = static_cast<uint32_t>(field->value);
        break;
      case proto::TracePacket::kSequenceFlags:
        flags = field->value;
        break;
      case proto::TracePacket::kIncrementalStateCleared:
        cleared = field->value != 0;
        break;
      case proto::TracePacket::kPreviousPacketDropped:
        facts.dropped = static_cast<uint32_t>(field->value);
        break;
      default:
        break;
    }
  }
  if (!reader.ok()) {
    // Of a packet in several fragments, the field that reaches beyond this one is the one that
    // matters.
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
