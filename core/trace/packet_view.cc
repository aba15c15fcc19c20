#include "core/trace/packet_view.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/lookup.h"
#include "core/base/text.h"
#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/packet_facts.h"

namespace ringscope {
namespace {

using proto::TracePacket;

/// Of several contents the one that trace processor acts on: it looks for these first, in this
/// order, and then takes the packet as used up.
int Rank(uint32_t content) {
  return content == TracePacket::kCompressedPackets ||
                 content == TracePacket::kZstdCompressedPackets
             ? 5
         : content == TracePacket::kClockSnapshot ? 4
         : content == TracePacket::kTraceStats    ? 3
         : content == TracePacket::kServiceEvent  ? 2
         : content != 0                           ? 1
                                                  : 0;
}

constexpr const char *kProbes = "perfetto.traced_probes",
                     *kChromeEvents = "org.chromium.trace_event";

/// Data sources whose packets are known by their contents.
constexpr KnownSource kOfContents[] = {
    {"linux.ftrace", kProbes, {TracePacket::kFtraceEvents, TracePacket::kFtraceStats}},
    {"linux.process_stats", kProbes, {TracePacket::kProcessTree, TracePacket::kProcessStats}},
    {"linux.sys_stats", kProbes, {TracePacket::kSysStats}},
    {"linux.inode_file_map", kProbes, {TracePacket::kInodeFileMap}},
    {"linux.system_info", kProbes, {TracePacket::kCpuInfo, TracePacket::kInterruptInfo}},
    {"linux.systemd_journald", kProbes, {TracePacket::kJournaldEvent}},
    {"android.power",
     kProbes,
     {TracePacket::kBattery, TracePacket::kPowerRails,
      TracePacket::kAndroidEnergyEstimationBreakdown, TracePacket::kEntityStateResidency}},
    {"android.log", kProbes, {TracePacket::kAndroidLog}},
    {"android.packages_list", kProbes, {TracePacket::kPackagesList}},
    {"android.polled_state", kProbes, {TracePacket::kInitialDisplayState}},
    {"android.game_interventions", kProbes, {TracePacket::kAndroidGameInterventionList}},
    {"android.statsd", kProbes, {TracePacket::kStatsdAtom}},
    {"android.system_property", kProbes, {TracePacket::kAndroidSystemProperty}},
    {"android.kernel_wakelocks", kProbes, {TracePacket::kKernelWakelockData}},
    {"android.app_wakelocks", kProbes, {/*app_wakelock_bundle*/ 116}},
    {"android.cpu_per_uid", kProbes, {TracePacket::kCpuPerUidData}},
    {"android.user_list", kProbes, {TracePacket::kUserList}},
    {"android.aflags", kProbes, {TracePacket::kAndroidAflags}},
    {"linux.perf", "perfetto.traced_perf", {TracePacket::kPerfSample}},
    {"android.heapprofd", "android.heapprofd", {TracePacket::kProfilePacket}},
    {"android.java_hprof", "", {/*heap_graph*/ 56}},
    {"android.surfaceflinger.frametimeline", "", {/*frame_timeline_event*/ 76}},
    {"android.surfaceflinger.frame", "", {TracePacket::kGraphicsFrameEvent}},
    {"android.gpu.memory", "", {TracePacket::kGpuMemTotalEvent}},
    {"android.network_packets", "", {/*network_packet*/ 88, TracePacket::kNetworkPacketBundle}},
    {kChromeEvents, "", {TracePacket::kChromeEvents}},
    {"org.chromium.trace_metadata", "", {TracePacket::kChromeMetadata}},
    {"org.chromium.trace_metadata2", "", {TracePacket::kChromeMetadata}},
    {"org.chromium.sampler_profiler", "", {TracePacket::kStreamingProfilePacket}},
    {"linux.sysfs_power", "", {TracePacket::kBattery}},
    {"perfetto.metatrace", "", {TracePacket::kPerfettoMetatrace}},
    {"gpu.counters", "", {TracePacket::kGpuCounterEvent}},
    {"gpu.renderstages", "", {TracePacket::kGpuRenderStageEvent}},
    {"track_event", "", {TracePacket::kTrackEvent}}};

/// All data sources that are known.
constexpr auto kSources = [] {
  std::array<KnownSource, 59> sources{};
  auto next = std::ranges::copy(kOfContents, sources.begin()).out;
  for (const char* name :
       {"android.java_hprof.oom", "android.surfaceflinger.layers",
        "android.surfaceflinger.transactions", "android.windowmanager", "android.viewcapture",
        "android.protolog", "android.inputmethod", "android.input.inputevent",
        "android.bluetooth.hci", "android.display.video", "android.pixel.modem",
        "android.sdk_sysprop_guard"})
    *next++ = {name};
  for (const char* name :
       {"org.chromium.trace_system", "org.chromium.memory_instrumentation",
        "org.chromium.histogram_sample", "org.chromium.background_scenario_metadata",
        "org.chromium.etw_system", "org.chromium.native_heap_profiler",
        "org.chromium.system_metrics", "org.chromium.trace_system_metrics", "vulkan.memory_tracker",
        "linux.frozen_ftrace", "com.android.wm.shell.transition", "dev.v8.code", "gpu.log"})
    *next++ = {name};
  return sources;
}();
static_assert(*kSources.back().name != '\0');

constexpr auto kKinds = [] {
  std::array<PacketKind, 256> kinds{};  // by content
  for (const KnownSource& source : kOfContents)
    for (const uint32_t content : source.contents)
      if (*kinds[content].source == '\0') kinds[content].source = source.name;
  for (const uint32_t content :
       {TracePacket::kTraceConfig, TracePacket::kTraceStats, TracePacket::kSynchronizationMarker,
        TracePacket::kSystemInfo, TracePacket::kTrigger, TracePacket::kServiceEvent,
        TracePacket::kTraceUuid, TracePacket::kRemoteClockSync, TracePacket::kCloneSnapshotTrigger,
        TracePacket::kTraceProvenance, TracePacket::kProtovms,
        TracePacket::kConcurrentSessionEvent})
    kinds[content] = {"", false, true};
  kinds[0] = {"", false};
  for (const uint32_t content :
       {TracePacket::kFtraceStats, TracePacket::kProcessTree, TracePacket::kInodeFileMap,
        TracePacket::kCpuInfo, TracePacket::kInterruptInfo, TracePacket::kPackagesList,
        TracePacket::kAndroidGameInterventionList, TracePacket::kUserList,
        TracePacket::kAndroidAflags, TracePacket::kChromeMetadata})
    kinds[content].has_events = false;
  for (const uint32_t content :
       {TracePacket::kClockSnapshot, TracePacket::kProcessDescriptor,
        TracePacket::kThreadDescriptor, TracePacket::kTrackDescriptor,
        TracePacket::kExtensionDescriptor, TracePacket::kUiState, TracePacket::kTranslationTable,
        TracePacket::kGpuInfo, TracePacket::kModuleSymbols, TracePacket::kDeobfuscationMapping})
    kinds[content].has_events = false;
  return kinds;
}();

}  // namespace

TracePacketView ViewTracePacket(Bytes packet) {
  using Flags = TracePacket::SequenceFlags;
  TracePacketView view;
  view.is_well_formed = wire::ForEachField(packet, [&](const wire::VisitedField& field) {
    switch (field.number) {
      case TracePacket::kFirstPacketOnSequence:
        break;
      case TracePacket::kTrustedUid:
        view.is_alien |= field.type != wire::Type::kVarint;
        view.uid = static_cast<int32_t>(field.value);
        break;
      case TracePacket::kTimestamp:
        view.is_alien |= field.type != wire::Type::kVarint;
        view.timestamp = field.value;
        break;
      case TracePacket::kTrustedPacketSequenceId:
        view.is_alien |= field.type != wire::Type::kVarint;
        view.has_sequence_id = true;
        view.sequence_id = static_cast<uint32_t>(field.value);
        break;
      case TracePacket::kInternedData:
        view.interned_data = field.bytes;
        break;
      case TracePacket::kSequenceFlags:
        view.clears_state |= (field.value & Flags::kSeqIncrementalStateCleared) != 0;
        view.needs_state = (field.value & Flags::kSeqNeedsIncrementalState) != 0;
        break;
      case TracePacket::kIncrementalStateCleared:
        view.clears_state |= field.value != 0;
        break;
      case TracePacket::kPreviousPacketDropped:
        view.dropped = static_cast<uint32_t>(field.value);
        break;
      case TracePacket::kTimestampClockId:
        view.timestamp_clock = static_cast<uint32_t>(field.value);
        break;
      case TracePacket::kTracePacketDefaults:
        view.defaults = field.bytes;
        break;
      case TracePacket::kTrustedPid:
        view.pid = static_cast<int32_t>(field.value);
        break;
      case TracePacket::kMachineId:
        view.machine = static_cast<uint32_t>(field.value);
        break;
      default:
        // Contents are messages, or bytes.
        if (field.type != wire::Type::kBytes) {
          view.is_alien |= field.number < TracePacket::kTrackEvent;
          break;
        }
        if (Rank(field.number) < Rank(view.content)) break;
        view.content = field.number;
        view.content_bytes = field.bytes;
    }
  });
  return view;
}

bool IsTracePacket(const TracePacketView& packet) {
  if (packet.is_alien || !packet.is_well_formed) return false;
  if (packet.has_sequence_id || packet.uid || packet.timestamp || packet.pid) return true;
  if (packet.content == TracePacket::kFtraceEvents)
    return wire::LastVarint(packet.content_bytes, proto::FtraceEventBundle::kCpu).has_value();
  return packet.content >= TracePacket::kTraceConfig;
}

ProducerPart SplitAppended(Bytes packet, const TracePacketView& view) {
  if (view.is_well_formed && view.uid && view.has_sequence_id) {
    const Identity identity{static_cast<uint32_t>(*view.uid), view.pid.value_or(-1)};
    std::string appended;
    // Loss bits that a producer wrote precede the service's fields.
    for (const uint32_t dropped : {view.dropped, uint32_t{0}}) {
      appended.clear();
      AppendTrustedFields(appended, identity, view.sequence_id, dropped, view.machine);
      if (wire::AsText(packet).ends_with(appended))
        return {packet.first(packet.size() - appended.size()), dropped};
    }
  }
  return {packet, view.dropped};
}

const PacketKind& KindOf(uint32_t content) {
  constexpr static PacketKind kUnlisted;
  return content < kKinds.size() ? kKinds[content] : kUnlisted;
}

bool IsOfService(const TracePacketView& packet) {
  if (KindOf(packet.content).is_of_service) return true;
  // Contents of these kinds do not show their writer; all of the service's packets have its uid.
  return packet.uid && packet.sequence_id <= kServiceSequenceId &&
         (packet.content == 0 || packet.content == TracePacket::kClockSnapshot ||
          packet.content == TracePacket::kExtensionDescriptor);
}

const KnownSource* FindKnownSource(std::string_view name) {
  const auto found = std::ranges::find_if(kSources, [&](const KnownSource& known) {
    const std::string_view own = known.name;
    return name.starts_with(own) && (name.size() == own.size() || name[own.size()] == '.');
  });
  return found == kSources.end() ? nullptr : &*found;
}

std::optional<std::string_view> MeantSource(std::string_view name) {
  std::vector<std::string_view> names;
  for (const KnownSource& known : kSources) names.emplace_back(known.name);
  if (const auto nearest = NearestName(name, names)) return nearest;
  const auto last_part = [](std::string_view whole) {
    return whole.substr(whole.rfind('.') + 1);  // npos + 1 is 0
  };
  std::optional<std::string_view> meant;
  for (const std::string_view known : names) {
    if (last_part(name).size() < 3 || last_part(known) != last_part(name)) continue;
    if (meant) return std::nullopt;
    meant = known;
  }
  return meant;
}

bool Writes(std::string_view source, uint32_t content) {
  const KnownSource* const known = FindKnownSource(source);
  return known != nullptr && content != 0 &&
         (Contains(known->contents, content) ||
          (content == TracePacket::kTrackEvent && source == kChromeEvents));
}

bool HasOwnContent(std::string_view source) {
  const KnownSource* const known = FindKnownSource(source);
  return known != nullptr && known->contents.front() != 0;
}

}  // namespace ringscope
