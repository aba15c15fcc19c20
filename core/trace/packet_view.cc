#include "core/trace/packet_view.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

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
  switch (content) {
    case TracePacket::kCompressedPackets:
    case TracePacket::kZstdCompressedPackets:
      return 5;
    case TracePacket::kClockSnapshot:
      return 4;
    case TracePacket::kTraceStats:
      return 3;
    case TracePacket::kServiceEvent:
      return 2;
    case 0:
      return 0;
    default:
      return 1;
  }
}

constexpr const char *kFtrace = "linux.ftrace", *kProcessStats = "linux.process_stats",
                     *kPower = "android.power", *kNetwork = "android.network_packets",
                     *kTrackEvents = "track_event", *kChromeEvents = "org.chromium.trace_event",
                     *kSystemInfo = "linux.system_info", *kSysfsPower = "linux.sysfs_power",
                     *kChromeMetadata = "org.chromium.trace_metadata",
                     *kChromeMetadata2 = "org.chromium.trace_metadata2";

/// Contents of data sources.
constexpr PacketKind kOfSources[] = {
    {TracePacket::kFtraceEvents, kFtrace},
    {TracePacket::kFtraceStats, kFtrace, false},
    {TracePacket::kProcessTree, kProcessStats, false},
    {TracePacket::kProcessStats, kProcessStats},
    {TracePacket::kSysStats, "linux.sys_stats"},
    {TracePacket::kInodeFileMap, "linux.inode_file_map", false},
    {TracePacket::kCpuInfo, kSystemInfo, false},
    {TracePacket::kInterruptInfo, kSystemInfo, false},
    {TracePacket::kJournaldEvent, "linux.systemd_journald"},
    {TracePacket::kPerfSample, "linux.perf"},
    {TracePacket::kProfilePacket, "android.heapprofd"},
    {/*heap_graph*/ 56, "android.java_hprof"},
    {TracePacket::kBattery, kPower},
    {TracePacket::kPowerRails, kPower},
    {TracePacket::kAndroidEnergyEstimationBreakdown, kPower},
    {TracePacket::kEntityStateResidency, kPower},
    {TracePacket::kAndroidLog, "android.log"},
    {TracePacket::kPackagesList, "android.packages_list", false},
    {TracePacket::kInitialDisplayState, "android.polled_state"},
    {/*frame_timeline_event*/ 76, "android.surfaceflinger.frametimeline"},
    {TracePacket::kGraphicsFrameEvent, "android.surfaceflinger.frame"},
    {TracePacket::kGpuCounterEvent, "gpu.counters"},
    {TracePacket::kGpuRenderStageEvent, "gpu.renderstages"},
    {TracePacket::kGpuMemTotalEvent, "android.gpu.memory"},
    {TracePacket::kAndroidGameInterventionList, "android.game_interventions", false},
    {TracePacket::kStatsdAtom, "android.statsd"},
    {TracePacket::kAndroidSystemProperty, "android.system_property"},
    {/*network_packet*/ 88, kNetwork},
    {TracePacket::kNetworkPacketBundle, kNetwork},
    {TracePacket::kKernelWakelockData, "android.kernel_wakelocks"},
    {/*app_wakelock_bundle*/ 116, "android.app_wakelocks"},
    {TracePacket::kCpuPerUidData, "android.cpu_per_uid"},
    {TracePacket::kUserList, "android.user_list", false},
    {TracePacket::kAndroidAflags, "android.aflags", false},
    {TracePacket::kTrackEvent, kTrackEvents},
    {TracePacket::kChromeEvents, kChromeEvents},
    {TracePacket::kChromeMetadata, kChromeMetadata, false},
    {TracePacket::kStreamingProfilePacket, "org.chromium.sampler_profiler"},
    {TracePacket::kPerfettoMetatrace, "perfetto.metatrace"}};

constexpr auto kKinds = [] {
  std::array<PacketKind, 256> kinds{};  // by content
  for (const PacketKind& kind : kOfSources) kinds[kind.content] = kind;
  // Contents that only the service writes.
  for (const uint32_t content :
       {TracePacket::kTraceConfig, TracePacket::kTraceStats, TracePacket::kSynchronizationMarker,
        TracePacket::kSystemInfo, TracePacket::kTrigger, TracePacket::kServiceEvent,
        TracePacket::kTraceUuid, TracePacket::kRemoteClockSync, TracePacket::kCloneSnapshotTrigger,
        TracePacket::kTraceProvenance, TracePacket::kProtovms,
        TracePacket::kConcurrentSessionEvent})
    kinds[content] = {content, "", false, true};
  // Contents without events that any data source may write; 0: none.
  kinds[0] = {0, "", false};
  for (const uint32_t content :
       {TracePacket::kClockSnapshot, TracePacket::kProcessDescriptor,
        TracePacket::kThreadDescriptor, TracePacket::kTrackDescriptor,
        TracePacket::kExtensionDescriptor, TracePacket::kUiState, TracePacket::kTranslationTable,
        TracePacket::kGpuInfo, TracePacket::kModuleSymbols, TracePacket::kDeobfuscationMapping})
    kinds[content] = {content, "", false};
  return kinds;
}();

constexpr auto kSources = [] {
  std::array<KnownSource, 59> sources{};
  auto next = sources.begin();
  for (const char* name :
       {kFtrace, kProcessStats, "linux.sys_stats", "linux.inode_file_map", kSystemInfo,
        "linux.systemd_journald", kPower, "android.log", "android.packages_list",
        "android.polled_state", "android.game_interventions", "android.statsd",
        "android.system_property", "android.kernel_wakelocks", "android.app_wakelocks",
        "android.cpu_per_uid", "android.user_list", "android.aflags"})
    *next++ = {name, "perfetto.traced_probes"};
  *next++ = {"linux.perf", "perfetto.traced_perf"};
  *next++ = {"android.heapprofd", "android.heapprofd"};
  for (const char* name :
       {"android.java_hprof", "android.java_hprof.oom", "android.surfaceflinger.frametimeline",
        "android.surfaceflinger.frame", "android.surfaceflinger.layers",
        "android.surfaceflinger.transactions", "android.gpu.memory", kNetwork,
        "android.windowmanager", "android.viewcapture", "android.protolog", "android.inputmethod",
        "android.input.inputevent", "android.bluetooth.hci", "android.display.video",
        "android.pixel.modem", "android.sdk_sysprop_guard"})
    *next++ = {name};
  for (const char* name :
       {kChromeEvents, kChromeMetadata, kChromeMetadata2, "org.chromium.trace_system",
        "org.chromium.memory_instrumentation", "org.chromium.sampler_profiler",
        "org.chromium.histogram_sample", "org.chromium.background_scenario_metadata",
        "org.chromium.etw_system", "org.chromium.native_heap_profiler",
        "org.chromium.system_metrics", "org.chromium.trace_system_metrics"})
    *next++ = {name};
  for (const char* name : {kSysfsPower, "perfetto.metatrace", "gpu.counters", "gpu.renderstages",
                           "vulkan.memory_tracker", kTrackEvents, "linux.frozen_ftrace",
                           "com.android.wm.shell.transition", "dev.v8.code", "gpu.log"})
    *next++ = {name};
  return sources;
}();
static_assert(*kSources.back().name != '\0');

}  // namespace

TracePacketView ViewTracePacket(Bytes packet) {
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
        view.clears_state |=
            (field.value & proto::TracePacket::SequenceFlags::kSeqIncrementalStateCleared) != 0;
        view.needs_state =
            (field.value & proto::TracePacket::SequenceFlags::kSeqNeedsIncrementalState) != 0;
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
  const std::string_view own = KindOf(content).source;
  if (own.empty()) return false;
  const KnownSource* const known = FindKnownSource(source);
  return own == (known == nullptr ? source : known->name) ||
         (own == kTrackEvents && source == kChromeEvents) ||
         (own == kChromeMetadata && source == kChromeMetadata2) ||
         (content == TracePacket::kBattery && source == kSysfsPower);
}

bool HasOwnContent(std::string_view source) {
  return std::ranges::any_of(kOfSources,
                             [&](const PacketKind& kind) { return Writes(source, kind.content); });
}

}  // namespace ringscope
