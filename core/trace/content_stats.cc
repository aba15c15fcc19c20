#include "core/trace/content_stats.h"

#include <algorithm>
#include <charconv>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"

// Source of all rules here: when trace processor v58 counts each of these.

namespace ringscope {
namespace {

using proto::TracePacket;

/// Contents whose messages the descriptors do not have.
constexpr uint32_t kHeapGraph = 56, kDisplayVideo = 1001;

using wire::NumberIn;

bool Has(Bytes message, uint32_t field) {
  bool has = false;
  wire::ForEachField(message, [&](const wire::VisitedField& one) { has |= one.number == field; });
  return has;
}
bool HasAll(Bytes message, std::initializer_list<uint32_t> fields) {
  return std::ranges::all_of(fields, [&](uint32_t field) { return Has(message, field); });
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

/// When a field makes a counter count.
enum class When : uint8_t { kMissing, kPresent, kAtLeast, kIs, kReports };
/// A counter that one field of a packet's content decides, or of each message in the content.
struct FieldRule {
  uint32_t content;
  uint32_t messages;  // field with these messages; 0: the content itself
  uint32_t field;
  When when;
  ContentStat stat;
  uint64_t value = 0;    // that `when` compares with
  bool is_last = false;  // what follows in the packet is lost
};
constexpr uint64_t kNegative = uint64_t{1} << 63;
constexpr FieldRule kFieldRules[] = {
    {TracePacket::kSysStats, 1, 1, When::kAtLeast, "meminfo_unknown_keys"_stat, 39},
    {TracePacket::kSysStats, 2, 1, When::kAtLeast, "vmstat_unknown_keys"_stat, 189},
    {TracePacket::kSysStats, 3, 1, When::kMissing, "invalid_cpu_times"_stat},
    {TracePacket::kSysStats, 14, 1, When::kAtLeast, "psi_unknown_resource"_stat, 7, true},
    {TracePacket::kPowerRails, 0, 2, When::kMissing, "power_rail_empty_packet"_stat},
    {TracePacket::kEntityStateResidency, 0, 2, When::kMissing,
     "entity_state_residency_invalid"_stat},
    {TracePacket::kPackagesList, 0, 2, When::kReports, "packages_list_has_parse_errors"_stat},
    {TracePacket::kPackagesList, 0, 3, When::kReports, "packages_list_has_read_errors"_stat},
    {TracePacket::kAndroidGameInterventionList, 0, 2, When::kReports,
     "game_intervention_has_parse_errors"_stat},
    {TracePacket::kAndroidGameInterventionList, 0, 3, When::kReports,
     "game_intervention_has_read_errors"_stat},
    {TracePacket::kAndroidLog, 2, 2, When::kReports, "android_log_num_failed"_stat},
    {TracePacket::kJournaldEvent, 0, 21, When::kReports, "systemd_journal_num_failed"_stat},
    {TracePacket::kTrackEventRangeOfInterest, 0, 1, When::kMissing,
     "track_event_range_of_interest_missing_start_us"_stat},
    {TracePacket::kCpuInfo, 0, 1, When::kMissing, "cpu_info_empty"_stat},
    {TracePacket::kUserList, 0, 2, When::kAtLeast, "user_list_errors"_stat, kNegative},
    {TracePacket::kAndroidAflags, 0, 2, When::kPresent, "android_aflags_errors"_stat},
    {TracePacket::kPerfettoMetatrace, 0, 6, When::kPresent, "metatrace_overruns"_stat},
    {TracePacket::kConcurrentSessionEvent, 0, 1, When::kIs,
     "concurrent_session_event_unknown_state"_stat, 0},
    {TracePacket::kConcurrentSessionEvent, 0, 1, When::kAtLeast,
     "concurrent_session_event_unknown_state"_stat, 6},
    {kDisplayVideo, 0, 2, When::kIs, "android_video_size_cap_hit"_stat, 1},
    {kDisplayVideo, 0, 2, When::kIs, "android_video_codec_error"_stat, 2},
    {kDisplayVideo, 0, 2, When::kIs, "android_video_display_gone"_stat, 3},
    {kDisplayVideo, 0, 2, When::kIs, "android_video_no_encoder"_stat, 4},
    {kDisplayVideo, 0, 2, When::kIs, "android_video_display_not_found"_stat, 5},
    {kDisplayVideo, 0, 2, When::kIs, "android_video_encoder_setup_failed"_stat, 6},
    {kDisplayVideo, 0, 2, When::kIs, "android_video_virtual_display_failed"_stat, 7},
};

void Apply(const FieldRule& rule, Bytes content, ContentCounts& counts) {
  bool has_ended = false;
  const auto judge = [&](Bytes message) {
    if (has_ended) return;
    const std::optional<uint64_t> number = wire::LastVarint(message, rule.field);
    const uint64_t value = number.value_or(0);
    if (rule.when == When::kReports) {
      if (number) counts.Set(rule.stat, value);  // the last one counts
      return;
    }
    const bool counts_one = rule.when == When::kMissing   ? !Has(message, rule.field)
                            : rule.when == When::kPresent ? Has(message, rule.field)
                            : rule.when == When::kAtLeast ? value >= rule.value
                                                          : value == rule.value;
    counts.Add(rule.stat, counts_one ? 1 : 0);
    has_ended = rule.is_last && counts_one;
  };
  if (rule.messages == 0)
    judge(content);
  else
    wire::ForEachMessage(content, rule.messages, judge);
}

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
    case 'C':
      return has(2) && is_number(parts[3]);
    case 'I':
      return has(2);
    case 'N':
      return has(2) && has(3);
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
    if (!IsWholePrint(wire::AsText(text.value_or(Bytes()))))
      counts.Add("systrace_parse_failure"_stat);
  } else if (field.number == kMm) {
    if (NumberIn(field.bytes, 4) > kMmTypes) counts.Add("mm_unknown_type"_stat);
  } else if (field.number == kZero) {
    if ((NumberIn(field.bytes, 1) & kZeroFlags) == 0) counts.Add("systrace_parse_failure"_stat);
  } else if (field.number == kThermal) {
    if (NumberIn(field.bytes, 1) >= kZones)
      counts.Add("ftrace_thermal_exynos_acpm_unknown_tz_id"_stat);
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
    const Bytes event = wire::BytesIn(*packet.defaults, kEventDefaults);
    default_track = wire::LastVarint(event, kTrack);
    extra_tracks = NumbersIn(event, kExtra);
    extra_double_tracks = NumbersIn(event, kExtraDouble);
  }
  if (packet.interned_data)
    wire::ForEachMessage(*packet.interned_data, kGpuDescriptors, [&](Bytes descriptor) {
      Keep(gpu_descriptors, NumberIn(descriptor, kIid));
    });
}

void ContentScan::Add(const TracePacketView& view, const TrackEventShape& event,
                      std::optional<int64_t> ns, SequenceContent& sequence, ContentCounts& counts,
                      ProfilerFacts& profilers) {
  // Contents that need more than a rule for a field.
  using Handler = void (ContentScan::*)(const Packet&);
  static constexpr std::pair<uint32_t, Handler> kOwn[] = {
      {TracePacket::kTrackDescriptor, &ContentScan::AddTrack},
      {TracePacket::kPerfSample, &ContentScan::AddPerfSample},
      {TracePacket::kGpuCounterEvent, &ContentScan::AddGpuCounters},
      {TracePacket::kProcessStats, &ContentScan::AddProcessStats},
      {TracePacket::kProfilePacket, &ContentScan::AddProfile},
      {kHeapGraph, &ContentScan::AddHeapGraph},
      {TracePacket::kAndroidEnergyEstimationBreakdown, &ContentScan::AddEnergy},
      {TracePacket::kKernelWakelockData, &ContentScan::AddWakelocks},
      {TracePacket::kChromeEvents, &ContentScan::AddChrome},
      {TracePacket::kPowerRails, &ContentScan::AddPowerRails},
      {TracePacket::kEntityStateResidency, &ContentScan::AddEntityStates}};
  if (view.content == TracePacket::kFtraceEvents) return;  // of which each event is judged
  const Packet packet{view, event, ns, sequence, counts, profilers};
  if (view.content == TracePacket::kTrackEvent) return AddTrackEvent(packet);
  for (const auto& [content, add] : kOwn)
    if (content == view.content) (this->*add)(packet);
  for (const FieldRule& rule : kFieldRules)
    if (rule.content == view.content) Apply(rule, view.content_bytes, counts);
}

void ContentScan::AddPerfSample(const Packet& packet) {
  constexpr uint32_t kCpu = 1, kLost = 17, kSkipped = 18, kEvent = 19, kStopReason = 1;
  constexpr uint64_t kGuardrail = 1, kRead = 1, kUnwind = 2, kQueueFull = 3;
  const Bytes sample = packet.content();
  std::optional<uint32_t>& session = packet.sequence.perf_session;
  if (!session) session = perf_sessions_++;
  if (const uint64_t lost = NumberIn(sample, kLost); lost > 0) {
    packet.counts.At("perf_cpu_lost_records"_stat, NumberIn(sample, kCpu)) += lost;
  } else if (const auto event = wire::LastBytes(sample, kEvent)) {
    if (NumberIn(*event, kStopReason) == kGuardrail && packet.ns)
      packet.counts.At("perf_guardrail_stop_ts"_stat, *session) = static_cast<uint64_t>(*packet.ns);
  } else {
    const uint64_t skipped = NumberIn(sample, kSkipped);
    if (skipped < packet.profilers.perf_samples.size()) ++packet.profilers.perf_samples[skipped];
    if (skipped == kRead || skipped == kUnwind) packet.counts.Add("perf_samples_skipped"_stat);
    if (skipped == kQueueFull) packet.counts.Add("perf_samples_skipped_dataloss"_stat);
  }
}

void ContentScan::AddProfile(const Packet& packet) {
  constexpr uint32_t kDumps = 5, kIndex = 7, kPid = 1, kError = 14;
  constexpr uint64_t kBufferFull = 1;
  constexpr std::pair<uint32_t, ContentStat> kFlags[] = {{4, "heapprofd_rejected_concurrent"_stat},
                                                         {6, "heapprofd_client_disconnected"_stat},
                                                         {8, "heapprofd_buffer_corrupted"_stat},
                                                         {10, "heapprofd_hit_guardrail"_stat}};
  constexpr uint32_t kOverran = 7;
  const uint64_t index = NumberIn(packet.content(), kIndex);
  std::optional<uint64_t>& last = packet.sequence.profile_index;
  if (index != (last ? *last + 1 : 0)) packet.counts.Add("heapprofd_missing_packet"_stat);
  last = index;
  wire::ForEachMessage(packet.content(), kDumps, [&](Bytes dump) {
    const uint64_t pid = NumberIn(dump, kPid), error = NumberIn(dump, kError);
    for (const auto& [field, stat] : kFlags)
      if (NumberIn(dump, field) != 0) ++packet.counts.At(stat, pid);
    if (NumberIn(dump, kOverran) != 0 || error == kBufferFull)
      ++packet.counts.At("heapprofd_buffer_overran"_stat, pid);
    if (error != 0) packet.counts.At("heapprofd_client_error"_stat, pid) = error;
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
    ++packet.counts.At("heap_graph_missing_packet"_stat, graph.has_objects ? graph.pid : 0);
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
  packet.counts.Add("heap_graph_non_finalized_graph"_stat, foreign);
  if (NumberIn(message, kContinued) != 0) return;
  const auto unknown = static_cast<uint64_t>(std::ranges::count_if(
      graph.of_types, [&](uint64_t id) { return !graph.locations.contains(id); }));
  if (unknown > 0) packet.counts.At("heap_graph_invalid_string_id"_stat, graph.pid) += unknown;
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

void ContentScan::AddProcessStats(const Packet& packet) {
  constexpr uint32_t kProcesses = 1, kNone = 14, kLast = 24;
  wire::ForEachMessage(packet.content(), kProcesses, [&](Bytes process) {
    wire::ForEachField(process, [&](const wire::VisitedField& field) {
      if (field.number == kNone || field.number > kLast)
        packet.counts.Add("proc_stat_unknown_counters"_stat);
    });
  });
}

void ContentScan::AddPowerRails(const Packet& packet) {
  constexpr uint32_t kDescriptors = 1, kData = 2, kSession = 3, kIndex = 1;
  const uint64_t session = NumberIn(packet.content(), kSession);
  wire::ForEachMessage(packet.content(), kDescriptors, [&](Bytes rail) {
    Keep(rails_, std::pair(session, NumberIn(rail, kIndex)));
  });
  wire::ForEachMessage(packet.content(), kData, [&](Bytes data) {
    if (!rails_.contains({session, NumberIn(data, kIndex)}))
      packet.counts.Add("power_rail_unknown_index"_stat);
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
        packet.counts.Add("energy_descriptor_invalid"_stat);
    });
    return;
  }
  if (!HasAll(message, {kConsumer, kEnergy}) ||
      !energy_consumers_.contains(NumberIn(message, kConsumer)))
    return packet.counts.Add("energy_breakdown_missing_values"_stat);
  wire::ForEachMessage(message, kByUid, [&](Bytes uid) {
    if (!HasAll(uid, {kId, kValue})) packet.counts.Add("energy_uid_breakdown_missing_values"_stat);
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
      packet.counts.Add("energy_descriptor_invalid"_stat);
  });
  bool is_known = true;
  wire::ForEachMessage(packet.content(), kResidencies, [&](Bytes residency) {
    is_known &= entity_states_.contains(key(residency));
  });
  if (!is_known)
    packet.counts.Add("entity_state_residency_lookup_failed"_stat);  // the rest is lost
}

void ContentScan::AddWakelocks(const Packet& packet) {
  constexpr uint32_t kWakelocks = 1, kIds = 2, kTimes = 3, kId = 1;
  std::set<uint64_t>& known = packet.sequence.wakelocks;
  wire::ForEachMessage(packet.content(), kWakelocks, [&](Bytes wakelock) {
    const uint64_t id = NumberIn(wakelock, kId);
    if (known.contains(id)) packet.counts.Add("kernel_wakelock_reused_id"_stat);
    Keep(known, id);
  });
  const std::vector<uint64_t> ids = NumbersIn(packet.content(), kIds);
  const size_t paired = std::min(ids.size(), NumbersIn(packet.content(), kTimes).size());
  for (size_t i = 0; i < paired; ++i)
    if (!known.contains(ids[i])) packet.counts.Add("kernel_wakelock_unknown_id"_stat);
}

void ContentScan::AddGpuCounters(const Packet& packet) {
  constexpr uint32_t kDescriptor = 1, kCounters = 2, kDescriptorIid = 4, kSpecs = 1, kId = 1,
                     kName = 2;
  const Bytes message = packet.content();
  if (Has(message, kCounters) && !packet.view.timestamp)
    return packet.counts.Add("gpu_counters_missing_timestamp"_stat);
  if (const auto iid = wire::LastVarint(message, kDescriptorIid);
      iid && !packet.sequence.gpu_descriptors.contains(*iid))
    packet.counts.Add("gpu_counters_invalid_spec"_stat);
  wire::ForEachMessage(message, kDescriptor, [&](Bytes descriptor) {
    wire::ForEachMessage(descriptor, kSpecs, [&](Bytes spec) {
      const uint64_t id = NumberIn(spec, kId);
      if (!HasAll(spec, {kId, kName}) || gpu_counters_.contains(id))
        packet.counts.Add("gpu_counters_invalid_spec"_stat);
      else
        Keep(gpu_counters_, id);
    });
  });
}

void ContentScan::AddChrome(const Packet& packet) {
  constexpr uint32_t kMetadata = 2;
  wire::ForEachMessage(packet.content(), kMetadata, [&](Bytes entry) {
    if (!Has(entry, 2) && !Has(entry, 3) && !Has(entry, 4) && !Has(entry, 5))
      packet.counts.Add("empty_chrome_metadata"_stat);
  });
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
  if (event.has_negative_time) return packet.counts.Add("track_event_invalid_timestamp"_stat);
  const auto track = event.track ? event.track : sequence.default_track;
  if (event.type == kCounterEvent) {
    if (!track) return packet.counts.Add("track_event_counter_missing_track_uuid"_stat);
    if (!event.has_value) return packet.counts.Add("track_event_counter_missing_value"_stat);
    if (!IsCounter(*track)) return packet.counts.Add("track_event_counter_invalid_track_uuid"_stat);
  }
  if (event.type == kStateEvent && !track)
    return packet.counts.Add("track_event_state_missing_track_uuid"_stat);
  if (event.has_extra) {
    size_t values = 0;
    std::vector<uint64_t> used;
    const auto add = [&](size_t count, uint32_t field, const std::vector<uint64_t>& defaults) {
      std::vector<uint64_t> tracks = NumbersIn(packet.content(), field);
      if (tracks.empty()) tracks = defaults;
      values += count;
      if (count == 0) return std::optional<ContentStat>();
      if (tracks.empty())
        return std::optional("track_event_extra_counter_missing_track_uuids"_stat);
      if (tracks.size() < count)
        return std::optional("track_event_extra_counter_track_uuid_mismatch"_stat);
      used.insert(used.end(), tracks.begin(), tracks.begin() + static_cast<std::ptrdiff_t>(count));
      return std::optional<ContentStat>();
    };
    size_t doubles = 0;
    wire::ForEachField(packet.content(), [&](const wire::VisitedField& field) {
      if (field.number == kDoubles)
        doubles += field.type == wire::Type::kBytes ? field.bytes.size() / sizeof(double) : 1;
    });
    const size_t whole = NumbersIn(packet.content(), kValues).size();
    auto wrong = add(whole, kTracks, sequence.extra_tracks);
    if (!wrong) wrong = add(doubles, kDoubleTracks, sequence.extra_double_tracks);
    if (!wrong && values > kMostExtra) wrong = "track_event_extra_counter_exceeds_max"_stat;
    if (!wrong && !std::ranges::all_of(used, [&](uint64_t one) { return IsCounter(one); }))
      wrong = "track_event_extra_counter_invalid_track"_stat;
    if (wrong) return packet.counts.Add(*wrong);
  }
  if (event.legacy.empty()) return;
  const uint64_t phase = NumberIn(event.legacy, kPhase);
  if ((phase == 's' || phase == 't' || phase == 'f') && !Has(event.legacy, kUnscopedId))
    packet.counts.Add("flow_invalid_id"_stat);
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
  if (!uuid) return packet.counts.Add("track_descriptor_missing_uuid"_stat);
  if (NumberIn(message, kOrdering) > kOrderings)
    return packet.counts.Add("track_descriptor_invalid_child_ordering"_stat);
  if (thread && !HasAll(*thread, {kPid, kTid}))
    return packet.counts.Add("track_descriptor_thread_missing_pid_tid"_stat);
  if (!thread && process && !Has(*process, kPid))
    return packet.counts.Add("track_descriptor_process_missing_pid"_stat);
  if (*uuid == 0 && parent != 0)
    return packet.counts.Add("track_descriptor_default_track_with_parent"_stat);
  std::string same;  // what must be equal whenever the track is described
  for (const uint64_t part :
       {parent, NumberIn(process.value_or(Bytes()), kPid), NumberIn(thread.value_or(Bytes()), kPid),
        NumberIn(thread.value_or(Bytes()), kTid), uint64_t{counter.has_value()},
        NumberIn(counter.value_or(Bytes()), kMultiplier),
        NumberIn(counter.value_or(Bytes()), kIsIncremental)})
    wire::AppendVarint(same, part);
  same += wire::AsText(wire::BytesIn(counter.value_or(Bytes()), kCategories));
  const size_t hash = std::hash<std::string>()(same);
  if (const auto known = tracks_.find(*uuid); known != tracks_.end()) {
    if (known->second != hash) packet.counts.Add("track_descriptor_conflicting_reservation"_stat);
    return;
  }
  if (is_full()) return;
  tracks_.emplace(*uuid, hash);
  if (counter) counters_.insert(*uuid);
}

}  // namespace ringscope
