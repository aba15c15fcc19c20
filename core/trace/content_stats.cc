#include "core/trace/content_stats.h"

#include <algorithm>
#include <charconv>
#include <span>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"

// Source of all rules here: when trace processor v58 counts each of these.

namespace ringscope {
namespace {

using proto::TracePacket;
using Stat = ContentStat;

/// Contents whose messages the descriptors do not have.
constexpr uint32_t kHeapGraph = 56, kDisplayVideo = 1001;

uint64_t NumberIn(Bytes message, uint32_t field) {
  return wire::LastVarint(message, field).value_or(0);
}
bool Has(Bytes message, uint32_t field) {
  bool has = false;
  wire::ForEachField(message, [&](const wire::VisitedField& one) { has |= one.number == field; });
  return has;
}
bool HasAll(Bytes message, std::initializer_list<uint32_t> fields) {
  return std::ranges::all_of(fields, [&](uint32_t field) { return Has(message, field); });
}
bool HasAny(Bytes message, std::initializer_list<uint32_t> fields) {
  return std::ranges::any_of(fields, [&](uint32_t field) { return Has(message, field); });
}
/// Adds an id, as long as there is space.
template <typename Set, typename Id>
void Keep(Set& set, const Id& id) {
  if (set.size() < ContentScan::kMaxTracks) set.insert(id);
}

std::vector<uint64_t> NumbersIn(Bytes message, uint32_t field) {
  constexpr size_t kMost = 64;  // trace processor takes 8
  std::vector<uint64_t> numbers;
  wire::ForEachNumber(message, field, [&](uint64_t number) {
    if (numbers.size() < kMost) numbers.push_back(number);
  });
  return numbers;
}

/// Counters that are a field of a packet, or of a message in it, as it is: the last one counts.
struct ReportedCounter {
  uint32_t content;
  uint32_t message;  // 0: the content itself
  uint32_t field;
  Stat stat;
};
constexpr ReportedCounter kReported[] = {
    {TracePacket::kPackagesList, 0, 2, Stat::kPackagesParse},
    {TracePacket::kPackagesList, 0, 3, Stat::kPackagesRead},
    {TracePacket::kAndroidGameInterventionList, 0, 2, Stat::kGamesParse},
    {TracePacket::kAndroidGameInterventionList, 0, 3, Stat::kGamesRead},
    {TracePacket::kAndroidLog, 2, 2, Stat::kLogFailed},
    {TracePacket::kJournaldEvent, 0, 21, Stat::kJournalFailed},
};

/// Returns false for a print of atrace that trace processor cannot parse.
bool IsWholePrint(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\0')) text.remove_suffix(1);
  std::array<std::string_view, 5> parts;
  size_t count = 0;
  for (std::string_view rest = text; count < parts.size(); ++count) {
    const size_t end = rest.find('|');
    parts[count] = rest.substr(0, end);
    if (end == rest.npos) break;
    rest.remove_prefix(end + 1);
  }
  const auto is_number = [](std::string_view part) {
    int64_t number = 0;
    return std::from_chars(part.data(), part.data() + part.size(), number).ec == std::errc();
  };
  const auto has = [&](size_t part) { return !parts[part].empty(); };
  if (!has(0)) return false;
  const char phase = text.front();
  if (phase == 'E') return true;
  if (std::string_view("BSFINCGH").find(phase) == std::string_view::npos)
    return text.starts_with("trace_event_clock_sync:");
  if (!is_number(parts[1])) return false;
  switch (phase) {
    case 'S':
    case 'F':
      return has(2) && is_number(parts[3]);
    case 'I':
      return has(2);
    case 'N':
      return has(2) && has(3);
    case 'C':
      return has(2) && is_number(parts[3]);
    case 'G':
      return has(2) && has(3) && is_number(parts[4]);
    case 'H':
      return has(2) && is_number(has(4) ? parts[4] : parts[3]);
    default:
      return true;
  }
}

}  // namespace

void AddFtraceEvent(Bytes event, ContentCounts& counts) {
  constexpr uint32_t kTime = 1, kPid = 2, kFlags = 5, kPrint = 3, kMm = 328, kZero = 331,
                     kThermal = 506;
  constexpr uint64_t kMmTypes = 6, kZeroFlags = 1 | 2 | 4, kZones = 7;
  const uint8_t* at = event.data();
  const uint8_t* const end = at + event.size();
  wire::VisitedField field;
  do {
    if (at == end) return;
    at = wire::TakeField(at, end, field);
    if (at == nullptr) return;
  } while (field.number == kTime || field.number == kPid || field.number == kFlags);
  if (field.type != wire::Type::kBytes) return;
  if (field.number == kPrint) {
    const auto text = wire::LastBytes(field.bytes, 2);
    if (!IsWholePrint(wire::AsText(text.value_or(Bytes())))) counts.Add(Stat::kSystrace);
  } else if (field.number == kMm) {
    if (NumberIn(field.bytes, 4) > kMmTypes) counts.Add(Stat::kMmType);
  } else if (field.number == kZero) {
    if ((NumberIn(field.bytes, 1) & kZeroFlags) == 0) counts.Add(Stat::kSystrace);
  } else if (field.number == kThermal) {
    if (NumberIn(field.bytes, 1) >= kZones) counts.Add(Stat::kThermalZone);
  }
}

void SequenceContent::Update(const TracePacketView& packet) {
  constexpr uint32_t kEventDefaults = 11, kTrack = 11, kExtra = 31, kExtraDouble = 45;
  constexpr uint32_t kGpuDescriptors = 47, kIid = 1;
  if (packet.clears_state) {
    default_track.reset();
    extra_tracks.clear();
    extra_double_tracks.clear();
    wakelocks.clear();
    gpu_descriptors.clear();
  }
  if (packet.defaults) {
    const Bytes event = wire::LastBytes(*packet.defaults, kEventDefaults).value_or(Bytes());
    default_track = wire::LastVarint(event, kTrack);
    extra_tracks = NumbersIn(event, kExtra);
    extra_double_tracks = NumbersIn(event, kExtraDouble);
  }
  if (packet.interned_data)
    wire::ForEachMessage(*packet.interned_data, kGpuDescriptors, [&](Bytes descriptor) {
      Keep(gpu_descriptors, NumberIn(descriptor, kIid));
    });
}

/// What looks at each content.
const ContentScan::Visitor ContentScan::kVisitors[25] = {
    {TracePacket::kTrackEvent, &ContentScan::AddTrackEvent},
    {TracePacket::kTrackDescriptor, &ContentScan::AddTrack},
    {TracePacket::kPerfSample, &ContentScan::AddPerfSample},
    {TracePacket::kProfilePacket, &ContentScan::AddProfile},
    {kHeapGraph, &ContentScan::AddHeapGraph},
    {TracePacket::kSysStats, &ContentScan::AddSysStats},
    {TracePacket::kProcessStats, &ContentScan::AddProcessStats},
    {TracePacket::kPowerRails, &ContentScan::AddPowerRails},
    {TracePacket::kAndroidEnergyEstimationBreakdown, &ContentScan::AddEnergy},
    {TracePacket::kEntityStateResidency, &ContentScan::AddEntityStates},
    {TracePacket::kKernelWakelockData, &ContentScan::AddWakelocks},
    {TracePacket::kGpuCounterEvent, &ContentScan::AddGpuCounters},
    {TracePacket::kChromeEvents, &ContentScan::AddChrome},
    {TracePacket::kPackagesList, &ContentScan::AddReported},
    {TracePacket::kAndroidGameInterventionList, &ContentScan::AddReported},
    {TracePacket::kAndroidLog, &ContentScan::AddReported},
    {TracePacket::kJournaldEvent, &ContentScan::AddReported},
    {TracePacket::kThreadDescriptor, &ContentScan::AddOther},
    {TracePacket::kTrackEventRangeOfInterest, &ContentScan::AddOther},
    {TracePacket::kCpuInfo, &ContentScan::AddOther},
    {TracePacket::kUserList, &ContentScan::AddOther},
    {TracePacket::kAndroidAflags, &ContentScan::AddOther},
    {TracePacket::kConcurrentSessionEvent, &ContentScan::AddOther},
    {TracePacket::kPerfettoMetatrace, &ContentScan::AddOther},
    {kDisplayVideo, &ContentScan::AddOther},
};

void ContentScan::Add(const TracePacketView& view, const TrackEventShape& event,
                      std::optional<int64_t> ns, SequenceContent& sequence, ContentCounts& counts,
                      ProfilerFacts& profilers) {
  if (view.content == TracePacket::kFtraceEvents) return;  // of which each event is judged
  for (const Visitor& visitor : kVisitors)
    if (visitor.content == view.content)
      return (this->*visitor.visit)({view, event, ns, sequence, counts, profilers});
}

void ContentScan::AddPerfSample(const Packet& packet) {
  constexpr uint32_t kCpu = 1, kLost = 17, kSkipped = 18, kEvent = 19, kStopReason = 1;
  constexpr uint64_t kGuardrail = 1, kRead = 1, kUnwind = 2, kQueueFull = 3;
  const Bytes sample = packet.content();
  std::optional<uint32_t>& session = packet.sequence.perf_session;
  if (!session) session = perf_sessions_++;
  if (const uint64_t lost = NumberIn(sample, kLost); lost > 0) {
    packet.counts.At(Stat::kPerfLostRecords, NumberIn(sample, kCpu)) += lost;
  } else if (const auto event = wire::LastBytes(sample, kEvent)) {
    if (NumberIn(*event, kStopReason) == kGuardrail && packet.ns)
      packet.counts.At(Stat::kPerfGuardrail, *session) = static_cast<uint64_t>(*packet.ns);
  } else {
    const uint64_t skipped = NumberIn(sample, kSkipped);
    if (skipped < packet.profilers.perf_samples.size()) ++packet.profilers.perf_samples[skipped];
    if (skipped == kRead || skipped == kUnwind) packet.counts.Add(Stat::kPerfSkipped);
    if (skipped == kQueueFull) packet.counts.Add(Stat::kPerfQueueFull);
  }
}

void ContentScan::AddProfile(const Packet& packet) {
  constexpr uint32_t kDumps = 5, kIndex = 7, kPid = 1, kError = 14;
  constexpr uint64_t kBufferFull = 1;
  constexpr std::pair<uint32_t, Stat> kFlags[] = {{4, Stat::kHeapRejected},
                                                  {6, Stat::kHeapDisconnected},
                                                  {8, Stat::kHeapCorrupted},
                                                  {10, Stat::kHeapGuardrail}};
  constexpr uint32_t kOverran = 7;
  const uint64_t index = NumberIn(packet.content(), kIndex);
  std::optional<uint64_t>& last = packet.sequence.profile_index;
  if (index != (last ? *last + 1 : 0)) packet.counts.Add(Stat::kHeapMissing);
  last = index;
  wire::ForEachMessage(packet.content(), kDumps, [&](Bytes dump) {
    const uint64_t pid = NumberIn(dump, kPid), error = NumberIn(dump, kError);
    for (const auto& [field, stat] : kFlags)
      if (NumberIn(dump, field) != 0) ++packet.counts.At(stat, pid);
    if (NumberIn(dump, kOverran) != 0 || error == kBufferFull)
      ++packet.counts.At(Stat::kHeapOverran, pid);
    if (error != 0) packet.counts.At(Stat::kHeapClientError, pid) = error;
  });
}

void ContentScan::AddHeapGraph(const Packet& packet) {
  constexpr uint32_t kPid = 1, kObjects = 2, kContinued = 5, kIndex = 6, kRoots = 7, kLocations = 8,
                     kTypes = 9, kIid = 1, kLocation = 2;
  const Bytes message = packet.content();
  const uint64_t pid = NumberIn(message, kPid), index = NumberIn(message, kIndex);
  const uint64_t time = packet.view.timestamp.value_or(0);
  if (!packet.sequence.graph) packet.sequence.graph = std::make_unique<SequenceContent::Graph>();
  SequenceContent::Graph& graph = *packet.sequence.graph;
  if (index != graph.next_index) {
    ++packet.counts.At(Stat::kGraphMissing, graph.has_objects ? graph.pid : 0);
    constexpr size_t kNamed = 8;
    for (uint64_t i = graph.next_index; i < index && graph.broken.missing.size() < kNamed; ++i)
      graph.broken.missing.push_back(i);
  }
  graph.next_index = index + 1;
  graph.broken.pid = pid;
  uint64_t foreign = 0;
  wire::ForEachField(message, [&](const wire::VisitedField& field) {
    if (field.IsBytes(kObjects) || field.IsBytes(kRoots)) {
      if (!std::exchange(graph.has_objects, true)) graph.pid = pid, graph.time = time;
      foreign += pid != graph.pid || time != graph.time ? 1 : 0;
    }
    if (field.IsBytes(kLocations)) Keep(graph.locations, NumberIn(field.bytes, kIid));
    if (field.IsBytes(kTypes) && graph.of_types.size() < kMaxTracks)
      if (const auto location = wire::LastVarint(field.bytes, kLocation))
        graph.of_types.push_back(*location);
  });
  packet.counts.Add(Stat::kGraphUnfinished, foreign);
  if (NumberIn(message, kContinued) != 0) return;
  const auto unknown = static_cast<uint64_t>(std::ranges::count_if(
      graph.of_types, [&](uint64_t id) { return !graph.locations.contains(id); }));
  if (unknown > 0) packet.counts.At(Stat::kGraphLocation, graph.pid) += unknown;
  EndGraph(packet.sequence, packet.profilers);
}

void ContentScan::EndGraph(SequenceContent& sequence, ProfilerFacts& profilers) {
  const BrokenHeapDump& dump = sequence.graph->broken;
  if ((!dump.missing.empty() || dump.is_unfinished) &&
      profilers.heap_dumps.size() < ProfilerFacts::kMaxDumps)
    profilers.heap_dumps.push_back(dump);
  sequence.graph.reset();
}

void ContentScan::Finish(SequenceContent& sequence, ProfilerFacts& profilers) {
  if (!sequence.graph) return;
  has_unfinished_graph_ = sequence.graph->broken.is_unfinished = true;
  EndGraph(sequence, profilers);
}

void ContentScan::AddSysStats(const Packet& packet) {
  constexpr uint32_t kMeminfo = 1, kVmstat = 2, kCpu = 3, kPsi = 14, kKey = 1;
  constexpr uint64_t kMeminfoKeys = 39, kVmstatKeys = 189, kPsiResources = 6;
  bool is_known = true;
  wire::ForEachField(packet.content(), [&](const wire::VisitedField& field) {
    if (field.type != wire::Type::kBytes || field.number > kPsi) return;
    const auto add = [&](bool is_wrong, Stat stat) {
      if (is_wrong) packet.counts.Add(stat);
    };
    if (field.number == kMeminfo) add(NumberIn(field.bytes, kKey) >= kMeminfoKeys, Stat::kMeminfo);
    if (field.number == kVmstat) add(NumberIn(field.bytes, kKey) >= kVmstatKeys, Stat::kVmstat);
    if (field.number == kCpu) add(!Has(field.bytes, kKey), Stat::kCpuTimes);
    if (field.number != kPsi || !is_known) return;
    is_known = NumberIn(field.bytes, kKey) <= kPsiResources;  // else the rest is lost
    add(!is_known, Stat::kPsi);
  });
}

void ContentScan::AddProcessStats(const Packet& packet) {
  constexpr uint32_t kProcesses = 1, kNone = 14, kLast = 24;
  wire::ForEachMessage(packet.content(), kProcesses, [&](Bytes process) {
    wire::ForEachField(process, [&](const wire::VisitedField& field) {
      if (field.number == kNone || field.number > kLast) packet.counts.Add(Stat::kProcStat);
    });
  });
}

void ContentScan::AddPowerRails(const Packet& packet) {
  constexpr uint32_t kDescriptors = 1, kData = 2, kSession = 3, kIndex = 1;
  const uint64_t session = NumberIn(packet.content(), kSession);
  if (!Has(packet.content(), kData)) packet.counts.Add(Stat::kRailEmpty);
  wire::ForEachMessage(packet.content(), kDescriptors, [&](Bytes rail) {
    Keep(rails_, std::pair(session, NumberIn(rail, kIndex)));
  });
  wire::ForEachMessage(packet.content(), kData, [&](Bytes data) {
    if (!rails_.contains({session, NumberIn(data, kIndex)})) packet.counts.Add(Stat::kRailIndex);
  });
}

void ContentScan::AddEnergy(const Packet& packet) {
  constexpr uint32_t kDescriptor = 1, kConsumer = 2, kEnergy = 3, kByUid = 4, kId = 1, kValue = 2;
  const Bytes message = packet.content();
  if (const auto descriptor = wire::LastBytes(message, kDescriptor)) {
    wire::ForEachMessage(*descriptor, kId, [&](Bytes consumer) {
      if (const auto id = wire::LastVarint(consumer, kId))
        Keep(energy_consumers_, *id);
      else
        packet.counts.Add(Stat::kEnergyDescriptor);
    });
    return;
  }
  if (!HasAll(message, {kConsumer, kEnergy}) ||
      !energy_consumers_.contains(NumberIn(message, kConsumer)))
    return packet.counts.Add(Stat::kEnergyValues);
  wire::ForEachMessage(message, kByUid, [&](Bytes uid) {
    if (!HasAll(uid, {kId, kValue})) packet.counts.Add(Stat::kEnergyUid);
  });
}

void ContentScan::AddEntityStates(const Packet& packet) {
  constexpr uint32_t kStates = 1, kResidencies = 2, kEntity = 1, kState = 2;
  const auto key = [](Bytes message) {
    return std::pair(NumberIn(message, kEntity), NumberIn(message, kState));
  };
  wire::ForEachMessage(packet.content(), kStates, [&](Bytes state) {
    if (HasAll(state, {kEntity, kState}))
      Keep(entity_states_, key(state));
    else
      packet.counts.Add(Stat::kEnergyDescriptor);
  });
  if (!Has(packet.content(), kResidencies)) return packet.counts.Add(Stat::kEntityState);
  bool is_known = true;
  wire::ForEachMessage(packet.content(), kResidencies, [&](Bytes residency) {
    is_known &= entity_states_.contains(key(residency));
  });
  if (!is_known) packet.counts.Add(Stat::kEntityLookup);  // the rest is lost
}

void ContentScan::AddWakelocks(const Packet& packet) {
  constexpr uint32_t kWakelocks = 1, kIds = 2, kTimes = 3, kId = 1;
  std::set<uint64_t>& known = packet.sequence.wakelocks;
  wire::ForEachMessage(packet.content(), kWakelocks, [&](Bytes wakelock) {
    const uint64_t id = NumberIn(wakelock, kId);
    if (known.contains(id)) packet.counts.Add(Stat::kWakelockReused);
    Keep(known, id);
  });
  const std::vector<uint64_t> ids = NumbersIn(packet.content(), kIds);
  const size_t paired = std::min(ids.size(), NumbersIn(packet.content(), kTimes).size());
  for (size_t i = 0; i < paired; ++i)
    if (!known.contains(ids[i])) packet.counts.Add(Stat::kWakelockUnknown);
}

void ContentScan::AddGpuCounters(const Packet& packet) {
  constexpr uint32_t kDescriptor = 1, kCounters = 2, kDescriptorIid = 4, kSpecs = 1, kId = 1,
                     kName = 2;
  const Bytes message = packet.content();
  if (Has(message, kCounters) && !packet.view.timestamp) return packet.counts.Add(Stat::kGpuTime);
  if (const auto iid = wire::LastVarint(message, kDescriptorIid);
      iid && !packet.sequence.gpu_descriptors.contains(*iid))
    packet.counts.Add(Stat::kGpuSpec);
  wire::ForEachMessage(message, kDescriptor, [&](Bytes descriptor) {
    wire::ForEachMessage(descriptor, kSpecs, [&](Bytes spec) {
      const uint64_t id = NumberIn(spec, kId);
      if (!HasAll(spec, {kId, kName}) || gpu_counters_.contains(id))
        packet.counts.Add(Stat::kGpuSpec);
      else
        Keep(gpu_counters_, id);
    });
  });
}

void ContentScan::AddChrome(const Packet& packet) {
  constexpr uint32_t kMetadata = 2;
  wire::ForEachMessage(packet.content(), kMetadata, [&](Bytes entry) {
    if (!HasAny(entry, {2, 3, 4, 5})) packet.counts.Add(Stat::kChromeMetadata);
  });
}

void ContentScan::AddReported(const Packet& packet) {
  for (const ReportedCounter& reported : kReported) {
    if (reported.content != packet.view.content) continue;
    const auto message = reported.message == 0
                             ? std::optional(packet.content())
                             : wire::LastBytes(packet.content(), reported.message);
    if (!message) continue;
    if (const auto value = wire::LastVarint(*message, reported.field))
      packet.counts.Set(reported.stat, *value);
  }
}

/// Contents of which one field decides.
void ContentScan::AddOther(const Packet& packet) {
  constexpr uint64_t kSessionStates = 5;
  constexpr Stat kVideos[] = {Stat::kVideoSize,      Stat::kVideoCodec,    Stat::kVideoGone,
                              Stat::kVideoNoEncoder, Stat::kVideoNotFound, Stat::kVideoSetup,
                              Stat::kVideoDisplay};
  const Bytes message = packet.content();
  const auto add = [&](bool is_wrong, Stat stat) {
    if (is_wrong) packet.counts.Add(stat);
  };
  switch (packet.view.content) {
    case TracePacket::kThreadDescriptor:
      return add(!packet.view.has_sequence_id, Stat::kThreadSequence);
    case TracePacket::kTrackEventRangeOfInterest:
      return add(!Has(message, 1), Stat::kRangeStart);
    case TracePacket::kCpuInfo:
      return add(!Has(message, 1), Stat::kCpuInfo);
    case TracePacket::kUserList:
      return add(static_cast<int64_t>(NumberIn(message, 2)) < 0, Stat::kUserList);
    case TracePacket::kAndroidAflags:
      return add(Has(message, 2), Stat::kAflags);
    case TracePacket::kPerfettoMetatrace:
      return add(Has(message, 6), Stat::kMetatrace);
    case TracePacket::kConcurrentSessionEvent:
      return add(NumberIn(message, 1) - 1 >= kSessionStates, Stat::kSessionState);
    default:
      if (const uint64_t reason = NumberIn(message, 2) - 1; reason < std::size(kVideos))
        packet.counts.Add(kVideos[reason]);
  }
}

/// The first thing that is wrong with a track event ends it.
void ContentScan::AddTrackEvent(const Packet& packet) {
  constexpr uint64_t kCounterEvent = 4, kStateEvent = 5;
  constexpr uint32_t kValues = 12, kDoubles = 46, kTracks = 31, kDoubleTracks = 45;
  constexpr size_t kMostExtra = 8;
  constexpr uint32_t kPhase = 2, kUnscopedId = 6;
  const TrackEventShape& event = packet.event;
  const SequenceContent& sequence = packet.sequence;
  if (event.is_left_out) return;
  if (event.has_negative_time) return packet.counts.Add(Stat::kEventInvalidTime);
  const auto track = event.track ? event.track : sequence.default_track;
  if (event.type == kCounterEvent) {
    if (!track) return packet.counts.Add(Stat::kCounterTrack);
    if (!event.has_value) return packet.counts.Add(Stat::kCounterValue);
    if (!IsCounter(*track)) return packet.counts.Add(Stat::kCounterInvalidTrack);
  }
  if (event.type == kStateEvent && !track) return packet.counts.Add(Stat::kStateTrack);
  if (event.has_extra) {
    size_t values = 0;
    std::vector<uint64_t> used;
    const auto add = [&](size_t count, uint32_t field, const std::vector<uint64_t>& defaults) {
      std::vector<uint64_t> tracks = NumbersIn(packet.content(), field);
      if (tracks.empty()) tracks = defaults;
      values += count;
      if (count == 0) return std::optional<Stat>();
      if (tracks.empty()) return std::optional(Stat::kExtraTracks);
      if (tracks.size() < count) return std::optional(Stat::kExtraMismatch);
      used.insert(used.end(), tracks.begin(), tracks.begin() + static_cast<std::ptrdiff_t>(count));
      return std::optional<Stat>();
    };
    size_t doubles = 0;
    wire::ForEachField(packet.content(), [&](const wire::VisitedField& field) {
      if (field.number == kDoubles)
        doubles += field.type == wire::Type::kBytes ? field.bytes.size() / sizeof(double) : 1;
    });
    const size_t whole = NumbersIn(packet.content(), kValues).size();
    auto wrong = add(whole, kTracks, sequence.extra_tracks);
    if (!wrong) wrong = add(doubles, kDoubleTracks, sequence.extra_double_tracks);
    if (!wrong && values > kMostExtra) wrong = Stat::kExtraMax;
    if (!wrong && !std::ranges::all_of(used, [&](uint64_t one) { return IsCounter(one); }))
      wrong = Stat::kExtraInvalid;
    if (wrong) return packet.counts.Add(*wrong);
  }
  if (event.legacy.empty()) return;
  const uint64_t phase = NumberIn(event.legacy, kPhase);
  if ((phase == 's' || phase == 't' || phase == 'f') && !Has(event.legacy, kUnscopedId))
    packet.counts.Add(Stat::kFlowId);
}

void ContentScan::AddTrack(const Packet& packet) {
  constexpr uint32_t kUuid = 1, kPid = 1, kTid = 2, kProcess = 3, kThread = 4, kParent = 5,
                     kCounter = 8, kOrdering = 11;
  constexpr uint64_t kOrderings = 3;
  constexpr uint32_t kCategories = 2, kMultiplier = 4, kIsIncremental = 5;
  const Bytes message = packet.content();
  const auto uuid = wire::LastVarint(message, kUuid);
  const auto process = wire::LastBytes(message, kProcess);
  const auto thread = wire::LastBytes(message, kThread);
  const auto counter = wire::LastBytes(message, kCounter);
  const uint64_t parent = NumberIn(message, kParent);
  if (!uuid) return packet.counts.Add(Stat::kTrackUuid);
  if (NumberIn(message, kOrdering) > kOrderings) return packet.counts.Add(Stat::kTrackOrdering);
  if (thread && !HasAll(*thread, {kPid, kTid})) return packet.counts.Add(Stat::kTrackThread);
  if (!thread && process && !Has(*process, kPid)) return packet.counts.Add(Stat::kTrackProcess);
  if (*uuid == 0 && parent != 0) return packet.counts.Add(Stat::kTrackParent);
  std::string same;  // what must be equal whenever the track is described
  for (const uint64_t part :
       {parent, NumberIn(process.value_or(Bytes()), kPid), NumberIn(thread.value_or(Bytes()), kPid),
        NumberIn(thread.value_or(Bytes()), kTid), uint64_t{counter.has_value()},
        NumberIn(counter.value_or(Bytes()), kMultiplier),
        NumberIn(counter.value_or(Bytes()), kIsIncremental)})
    wire::AppendVarint(same, part);
  same += wire::AsText(wire::LastBytes(counter.value_or(Bytes()), kCategories).value_or(Bytes()));
  const size_t hash = std::hash<std::string>()(same);
  if (const auto known = tracks_.find(*uuid); known != tracks_.end()) {
    if (known->second != hash) packet.counts.Add(Stat::kTrackConflict);
    return;
  }
  if (is_full()) return;
  tracks_.emplace(*uuid, hash);
  if (counter) counters_.insert(*uuid);
}

}  // namespace ringscope
