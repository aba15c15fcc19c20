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
namespace {

using proto::TracePacket;

constexpr const char *kFtrace = "linux.ftrace", *kProcessStats = "linux.process_stats",
                     *kPower = "android.power", *kNetwork = "android.network_packets",
                     *kTrackEvents = "track_event", *kChromeEvents = "org.chromium.trace_event",
                     *kSystemInfo = "linux.system_info", *kSysfsPower = "linux.sysfs_power";

constexpr PacketKind OfService(uint32_t content) { return {content, "", false, true}; }
constexpr PacketKind NoEvents(uint32_t content, const char* source = "") {
  return {content, source, false, false};
}

constexpr std::array kKinds = {
    OfService(TracePacket::kTraceConfig),
    OfService(TracePacket::kTraceStats),
    OfService(TracePacket::kSynchronizationMarker),
    OfService(TracePacket::kSystemInfo),
    OfService(TracePacket::kTrigger),
    OfService(TracePacket::kServiceEvent),
    OfService(TracePacket::kTraceUuid),
    OfService(TracePacket::kRemoteClockSync),
    OfService(TracePacket::kCloneSnapshotTrigger),
    OfService(TracePacket::kTraceProvenance),
    OfService(TracePacket::kProtovms),
    OfService(TracePacket::kConcurrentSessionEvent),
    NoEvents(0),
    NoEvents(TracePacket::kClockSnapshot),
    NoEvents(TracePacket::kProcessDescriptor),
    NoEvents(TracePacket::kThreadDescriptor),
    NoEvents(TracePacket::kTrackDescriptor),
    NoEvents(TracePacket::kExtensionDescriptor),
    NoEvents(TracePacket::kUiState),
    NoEvents(TracePacket::kTranslationTable),
    NoEvents(TracePacket::kGpuInfo),
    NoEvents(TracePacket::kModuleSymbols),
    NoEvents(TracePacket::kDeobfuscationMapping),
    PacketKind{TracePacket::kFtraceEvents, kFtrace},
    NoEvents(TracePacket::kFtraceStats, kFtrace),
    NoEvents(TracePacket::kProcessTree, kProcessStats),
    PacketKind{TracePacket::kProcessStats, kProcessStats},
    PacketKind{TracePacket::kSysStats, "linux.sys_stats"},
    NoEvents(TracePacket::kInodeFileMap, "linux.inode_file_map"),
    NoEvents(TracePacket::kCpuInfo, kSystemInfo),
    NoEvents(TracePacket::kInterruptInfo, kSystemInfo),
    PacketKind{TracePacket::kJournaldEvent, "linux.systemd_journald"},
    PacketKind{TracePacket::kPerfSample, "linux.perf"},
    PacketKind{TracePacket::kProfilePacket, "android.heapprofd"},
    PacketKind{/*heap_graph*/ 56, "android.java_hprof"},
    PacketKind{TracePacket::kBattery, kPower},
    PacketKind{TracePacket::kPowerRails, kPower},
    PacketKind{TracePacket::kAndroidEnergyEstimationBreakdown, kPower},
    PacketKind{TracePacket::kEntityStateResidency, kPower},
    PacketKind{TracePacket::kAndroidLog, "android.log"},
    NoEvents(TracePacket::kPackagesList, "android.packages_list"),
    PacketKind{TracePacket::kInitialDisplayState, "android.polled_state"},
    PacketKind{/*frame_timeline_event*/ 76, "android.surfaceflinger.frametimeline"},
    PacketKind{TracePacket::kGraphicsFrameEvent, "android.surfaceflinger.frame"},
    PacketKind{TracePacket::kGpuCounterEvent, "gpu.counters"},
    PacketKind{TracePacket::kGpuRenderStageEvent, "gpu.renderstages"},
    PacketKind{TracePacket::kGpuMemTotalEvent, "android.gpu.memory"},
    NoEvents(TracePacket::kAndroidGameInterventionList, "android.game_interventions"),
    PacketKind{TracePacket::kStatsdAtom, "android.statsd"},
    PacketKind{TracePacket::kAndroidSystemProperty, "android.system_property"},
    PacketKind{/*network_packet*/ 88, kNetwork},
    PacketKind{TracePacket::kNetworkPacketBundle, kNetwork},
    PacketKind{TracePacket::kKernelWakelockData, "android.kernel_wakelocks"},
    PacketKind{/*app_wakelock_bundle*/ 116, "android.app_wakelocks"},
    PacketKind{TracePacket::kCpuPerUidData, "android.cpu_per_uid"},
    NoEvents(TracePacket::kUserList, "android.user_list"),
    NoEvents(TracePacket::kAndroidAflags, "android.aflags"),
    PacketKind{TracePacket::kTrackEvent, kTrackEvents},
    PacketKind{TracePacket::kChromeEvents, kChromeEvents},
    NoEvents(TracePacket::kChromeMetadata, "org.chromium.trace_metadata"),
    PacketKind{TracePacket::kStreamingProfilePacket, "org.chromium.sampler_profiler"},
    PacketKind{TracePacket::kPerfettoMetatrace, "perfetto.metatrace"},
};

constexpr const char* kProbes = "perfetto.traced_probes";

constexpr std::array kSources = {
    KnownSource{kFtrace, kProbes},
    KnownSource{kProcessStats, kProbes},
    KnownSource{"linux.sys_stats", kProbes},
    KnownSource{"linux.inode_file_map", kProbes},
    KnownSource{kSystemInfo, kProbes},
    KnownSource{"linux.systemd_journald", kProbes},
    KnownSource{kPower, kProbes},
    KnownSource{kSysfsPower},
    KnownSource{"android.log", kProbes},
    KnownSource{"android.packages_list", kProbes},
    KnownSource{"android.polled_state", kProbes},
    KnownSource{"android.game_interventions", kProbes},
    KnownSource{"android.statsd", kProbes},
    KnownSource{"android.system_property", kProbes},
    KnownSource{"android.kernel_wakelocks", kProbes},
    KnownSource{"android.app_wakelocks", kProbes},
    KnownSource{"android.cpu_per_uid", kProbes},
    KnownSource{"android.user_list", kProbes},
    KnownSource{"android.aflags", kProbes},
    KnownSource{"perfetto.metatrace"},
    KnownSource{"linux.perf", "perfetto.traced_perf"},
    KnownSource{"android.heapprofd", "android.heapprofd"},
    KnownSource{"android.java_hprof"},
    KnownSource{"android.java_hprof.oom"},
    KnownSource{"android.surfaceflinger.frametimeline"},
    KnownSource{"android.surfaceflinger.frame"},
    KnownSource{"android.surfaceflinger.layers"},
    KnownSource{"android.surfaceflinger.transactions"},
    KnownSource{"android.gpu.memory"},
    KnownSource{kNetwork},
    KnownSource{"android.windowmanager"},
    KnownSource{"android.viewcapture"},
    KnownSource{"android.protolog"},
    KnownSource{"android.inputmethod"},
    KnownSource{"android.input.inputevent"},
    KnownSource{"gpu.counters"},
    KnownSource{"gpu.renderstages"},
    KnownSource{"vulkan.memory_tracker"},
    KnownSource{kTrackEvents},
    KnownSource{kChromeEvents},
    KnownSource{"org.chromium.trace_metadata"},
    KnownSource{"org.chromium.trace_metadata2"},
    KnownSource{"org.chromium.trace_system"},
    KnownSource{"org.chromium.memory_instrumentation"},
    KnownSource{"org.chromium.sampler_profiler"},
    KnownSource{"org.chromium.histogram_sample"},
    KnownSource{"linux.frozen_ftrace"},
    KnownSource{"android.bluetooth.hci"},
    KnownSource{"android.display.video"},
    KnownSource{"android.pixel.modem"},
    KnownSource{"android.sdk_sysprop_guard"},
    KnownSource{"com.android.wm.shell.transition"},
    KnownSource{"dev.v8.code"},
    KnownSource{"gpu.log"},
    KnownSource{"org.chromium.background_scenario_metadata"},
    KnownSource{"org.chromium.etw_system"},
    KnownSource{"org.chromium.native_heap_profiler"},
    KnownSource{"org.chromium.system_metrics"},
    KnownSource{"org.chromium.trace_system_metrics"},
};

constexpr PacketKind kUnlisted;

/// Place of a content's kind in the table, plus 1.
constexpr auto kPlaces = [] {
  std::array<uint8_t, 256> places{};
  for (size_t i = 0; i < kKinds.size(); ++i)
    places[kKinds[i].content] = static_cast<uint8_t>(i + 1);
  return places;
}();

}  // namespace

const PacketKind& KindOf(uint32_t content) {
  const size_t place = content < kPlaces.size() ? kPlaces[content] : 0;
  return place == 0 ? kUnlisted : kKinds[place - 1];
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
         (content == TracePacket::kBattery && source == kSysfsPower);
}

bool HasOwnContent(std::string_view source) {
  return std::ranges::any_of(kKinds,
                             [&](const PacketKind& kind) { return Writes(source, kind.content); });
}

}  // namespace ringscope
