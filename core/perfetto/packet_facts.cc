#include "core/perfetto/packet_facts.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

/// By field; a test compares them with the descriptors.
constexpr std::array<std::pair<uint32_t, const char*>, 87> kContentNames = {{
    {1, "ftrace_events"},
    {2, "process_tree"},
    {4, "inode_file_map"},
    {5, "chrome_events"},
    {6, "clock_snapshot"},
    {7, "sys_stats"},
    {9, "process_stats"},
    {11, "track_event"},
    {12, "interned_data"},
    {33, "trace_config"},
    {34, "ftrace_stats"},
    {35, "trace_stats"},
    {36, "synchronization_marker"},
    {37, "profile_packet"},
    {38, "battery"},
    {39, "android_log"},
    {40, "power_rails"},
    {43, "process_descriptor"},
    {44, "thread_descriptor"},
    {45, "system_info"},
    {46, "trigger"},
    {47, "packages_list"},
    {48, "chrome_benchmark_metadata"},
    {49, "perfetto_metatrace"},
    {50, "compressed_packets"},
    {51, "chrome_metadata"},
    {52, "gpu_counter_event"},
    {53, "gpu_render_stage_event"},
    {54, "streaming_profile_packet"},
    {57, "graphics_frame_event"},
    {59, "trace_packet_defaults"},
    {60, "track_descriptor"},
    {61, "module_symbols"},
    {62, "vulkan_memory_event"},
    {63, "gpu_log"},
    {64, "deobfuscation_mapping"},
    {65, "vulkan_api_event"},
    {66, "perf_sample"},
    {67, "cpu_info"},
    {68, "smaps_packet"},
    {69, "service_event"},
    {70, "initial_display_state"},
    {71, "gpu_mem_total_event"},
    {72, "extension_descriptor"},
    {73, "memory_tracker_snapshot"},
    {74, "streaming_allocation"},
    {75, "streaming_free"},
    {77, "android_energy_estimation_breakdown"},
    {78, "ui_state"},
    {82, "translation_table"},
    {83, "android_game_intervention_list"},
    {84, "statsd_atom"},
    {86, "android_system_property"},
    {89, "trace_uuid"},
    {90, "track_event_range_of_interest"},
    {91, "entity_state_residency"},
    {95, "etw_events"},
    {99, "v8_js_code"},
    {100, "v8_internal_code"},
    {101, "v8_wasm_code"},
    {102, "v8_reg_exp_code"},
    {103, "v8_code_move"},
    {107, "remote_clock_sync"},
    {109, "chrome_trigger"},
    {110, "pixel_modem_events"},
    {111, "pixel_modem_token_database"},
    {113, "clone_snapshot_trigger"},
    {115, "kernel_wakelock_data"},
    {117, "generic_kernel_task_state_event"},
    {118, "generic_kernel_cpu_freq_event"},
    {119, "cpu_per_uid_data"},
    {120, "generic_kernel_task_rename_event"},
    {122, "generic_kernel_process_tree"},
    {123, "user_list"},
    {124, "trace_provenance"},
    {125, "protovms"},
    {126, "trace_attributes"},
    {127, "android_aflags"},
    {128, "gpu_info"},
    {129, "generic_gpu_frequency_event"},
    {130, "interrupt_info"},
    {131, "art_process_metadata"},
    {132, "journald_event"},
    {133, "zstd_compressed_packets"},
    {134, "concurrent_session_event"},
    {135, "stack_sample"},
    {900, "for_testing"},
}};

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
    // Of a packet in several fragments, the field that reaches beyond this one is the one that
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
  for (const auto& [number, name] : kContentNames)
    if (number == content) return name;
  return fmt::format("field {}", content);
}

std::string ContentText(uint32_t content, std::string_view kind) {
  std::string text = ContentName(content);
  if (!kind.empty()) text.append(": ").append(kind);
  return text;
}

}  // namespace ringscope
