#include "core/trace/content_stats.h"

#include <algorithm>
#include <charconv>

#include "core/base/lookup.h"
#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/trace/trace_facts.h"

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
  struct Phase {
    char name;
    size_t texts;  // after the pid
    bool has_number = false;
  };
  constexpr Phase kPhases[] = {{'B', 0}, {'S', 1, true}, {'F', 1, true}, {'I', 1},
                               {'N', 2}, {'C', 1, true}, {'G', 2, true}, {'H', 1, true}};
  if (parts[0].empty()) return false;
  if (text.front() == 'E') return true;
  const Phase* const phase = FindBy(kPhases, text.front(), &Phase::name);
  if (phase == nullptr) return text.starts_with("trace_event_clock_sync:");
  size_t next = 2;  // after the pid
  const auto is_empty = [](std::string_view part) { return part.empty(); };
  if (!is_number(parts[1]) || std::any_of(&parts[next], &parts[next + phase->texts], is_empty))
    return false;
  next += phase->texts;
  if (phase->name == 'H' && !parts[4].empty()) next = 4;
  return !phase->has_number || is_number(parts[next]);
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
    if (!IsWholePrint(wire::AsText(wire::BytesIn(field.bytes, 2))))
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

/// A packet that is judged.
struct ContentScan::Judged {
  ContentScan& scan;
  const TracePacketView& view;
  const TrackEventShape& event;
  std::optional<int64_t> ns;
  SequenceContent& sequence;
  MachineFacts& machine;
  ContentCounts& counts = machine.content;
  Bytes content = view.content_bytes;

  void Judge() {
    // Contents that need more than a rule for a field.
    static constexpr std::pair<uint32_t, void (Judged::*)()> kOwn[] = {
        {TracePacket::kTrackDescriptor, &Judged::AddTrack},
        {TracePacket::kPerfSample, &Judged::AddPerfSample},
        {TracePacket::kGpuCounterEvent, &Judged::AddGpuCounters},
        {TracePacket::kProcessStats, &Judged::AddProcessStats},
        {TracePacket::kProfilePacket, &Judged::AddProfile},
        {kHeapGraph, &Judged::AddHeapGraph},
        {TracePacket::kAndroidEnergyEstimationBreakdown, &Judged::AddEnergy},
        {TracePacket::kKernelWakelockData, &Judged::AddWakelocks},
        {TracePacket::kChromeEvents, &Judged::AddChrome},
        {TracePacket::kPowerRails, &Judged::AddPowerRails},
        {TracePacket::kEntityStateResidency, &Judged::AddEntityStates}};
    if (view.content == TracePacket::kTrackEvent) return AddTrackEvent();
    for (const auto& [own, add] : kOwn)
      if (own == view.content) (this->*add)();
    for (const FieldRule& rule : kFieldRules)
      if (rule.content == view.content) Apply(rule, content, counts);
  }

  void AddPerfSample() {
    constexpr uint32_t kCpu = 1, kLost = 17, kSkipped = 18, kEvent = 19, kStopReason = 1;
    constexpr uint64_t kGuardrail = 1, kRead = 1, kUnwind = 2, kQueueFull = 3;
    std::optional<uint32_t>& session = sequence.perf_session;
    if (!session) session = scan.perf_sessions_++;
    if (const uint64_t lost = NumberIn(content, kLost); lost > 0) {
      counts.At("perf_cpu_lost_records"_stat, NumberIn(content, kCpu)) += lost;
    } else if (const auto producer_event = wire::LastBytes(content, kEvent)) {
      if (NumberIn(*producer_event, kStopReason) == kGuardrail && ns)
        counts.At("perf_guardrail_stop_ts"_stat, *session) = static_cast<uint64_t>(*ns);
    } else {
      const uint64_t skipped = NumberIn(content, kSkipped);
      auto& samples = machine.profilers.perf_samples;
      if (skipped < samples.size()) ++samples[skipped];
      if (skipped == kRead || skipped == kUnwind) counts.Add("perf_samples_skipped"_stat);
      if (skipped == kQueueFull) counts.Add("perf_samples_skipped_dataloss"_stat);
    }
  }

  void AddProfile() {
    constexpr uint32_t kDumps = 5, kIndex = 7, kPid = 1, kError = 14;
    constexpr uint64_t kBufferFull = 1;
    constexpr std::pair<uint32_t, ContentStat> kFlags[] = {
        {4, "heapprofd_rejected_concurrent"_stat},
        {6, "heapprofd_client_disconnected"_stat},
        {8, "heapprofd_buffer_corrupted"_stat},
        {10, "heapprofd_hit_guardrail"_stat}};
    constexpr uint32_t kOverran = 7;
    const uint64_t index = NumberIn(content, kIndex);
    std::optional<uint64_t>& last = sequence.profile_index;
    if (index != (last ? *last + 1 : 0)) counts.Add("heapprofd_missing_packet"_stat);
    last = index;
    wire::ForEachMessage(content, kDumps, [&](Bytes dump) {
      const uint64_t pid = NumberIn(dump, kPid), error = NumberIn(dump, kError);
      for (const auto& [field, stat] : kFlags)
        if (NumberIn(dump, field) != 0) ++counts.At(stat, pid);
      if (NumberIn(dump, kOverran) != 0 || error == kBufferFull)
        ++counts.At("heapprofd_buffer_overran"_stat, pid);
      if (error != 0) counts.At("heapprofd_client_error"_stat, pid) = error;
    });
  }

  void AddHeapGraph() {
    constexpr uint32_t kPid = 1, kObjects = 2, kContinued = 5, kIndex = 6, kRoots = 7,
                       kLocations = 8, kTypes = 9, kIid = 1, kLocation = 2;
    const uint64_t pid = NumberIn(content, kPid), index = NumberIn(content, kIndex);
    const uint64_t time = view.timestamp.value_or(0);
    if (!sequence.graph) sequence.graph = std::make_unique<SequenceContent::Graph>();
    SequenceContent::Graph& graph = *sequence.graph;
    if (index != graph.next_index) {
      ++counts.At("heap_graph_missing_packet"_stat, graph.has_objects ? graph.pid : 0);
      constexpr size_t kNamed = 8;
      for (uint64_t i = graph.next_index; i < index && graph.broken.missing.size() < kNamed; ++i)
        graph.broken.missing.push_back(i);
    }
    graph.next_index = index + 1;
    graph.broken.pid = pid;
    uint64_t foreign = 0;
    wire::ForEachField(content, [&](const wire::VisitedField& field) {
      if (field.IsBytes(kObjects) || field.IsBytes(kRoots)) {
        if (!std::exchange(graph.has_objects, true)) graph.pid = pid, graph.time = time;
        foreign += pid != graph.pid || time != graph.time ? 1 : 0;
      }
      if (field.IsBytes(kLocations)) Keep(graph.locations, NumberIn(field.bytes, kIid));
      if (field.IsBytes(kTypes) && graph.of_types.size() < kMaxTracks)
        if (const auto location = wire::LastVarint(field.bytes, kLocation))
          graph.of_types.push_back(*location);
    });
    counts.Add("heap_graph_non_finalized_graph"_stat, foreign);
    if (NumberIn(content, kContinued) != 0) return;
    const auto unknown = static_cast<uint64_t>(std::ranges::count_if(
        graph.of_types, [&](uint64_t id) { return !graph.locations.contains(id); }));
    if (unknown > 0) counts.At("heap_graph_invalid_string_id"_stat, graph.pid) += unknown;
    scan.EndGraph(sequence, machine, /*is_finished=*/true);
  }

  void AddProcessStats() {
    constexpr uint32_t kProcesses = 1, kNone = 14, kLast = 24;
    wire::ForEachMessage(content, kProcesses, [&](Bytes process) {
      wire::ForEachField(process, [&](const wire::VisitedField& field) {
        if (field.number == kNone || field.number > kLast)
          counts.Add("proc_stat_unknown_counters"_stat);
      });
    });
  }

  void AddPowerRails() {
    constexpr uint32_t kDescriptors = 1, kData = 2, kSession = 3, kIndex = 1;
    const uint64_t session = NumberIn(content, kSession);
    wire::ForEachMessage(content, kDescriptors, [&](Bytes rail) {
      Keep(scan.rails_, std::pair(session, NumberIn(rail, kIndex)));
    });
    wire::ForEachMessage(content, kData, [&](Bytes data) {
      if (!scan.rails_.contains({session, NumberIn(data, kIndex)}))
        counts.Add("power_rail_unknown_index"_stat);
    });
  }

  void AddEnergy() {
    constexpr uint32_t kDescriptor = 1, kConsumer = 2, kEnergy = 3, kByUid = 4, kId = 1, kValue = 2;
    if (const auto descriptor = wire::LastBytes(content, kDescriptor)) {
      wire::ForEachMessage(*descriptor, kId, [&](Bytes consumer) {
        if (const auto id = wire::LastVarint(consumer, kId))
          Keep(scan.energy_consumers_, *id);
        else
          counts.Add("energy_descriptor_invalid"_stat);
      });
      return;
    }
    if (!HasAll(content, {kConsumer, kEnergy}) ||
        !scan.energy_consumers_.contains(NumberIn(content, kConsumer)))
      return counts.Add("energy_breakdown_missing_values"_stat);
    wire::ForEachMessage(content, kByUid, [&](Bytes uid) {
      if (!HasAll(uid, {kId, kValue})) counts.Add("energy_uid_breakdown_missing_values"_stat);
    });
  }

  void AddEntityStates() {
    constexpr uint32_t kStates = 1, kResidencies = 2, kEntity = 1, kState = 2;
    const auto key = [](Bytes message) {
      return std::pair(NumberIn(message, kEntity), NumberIn(message, kState));
    };
    wire::ForEachMessage(content, kStates, [&](Bytes state) {
      if (HasAll(state, {kEntity, kState}))
        Keep(scan.entity_states_, key(state));
      else
        counts.Add("energy_descriptor_invalid"_stat);
    });
    bool is_known = true;
    wire::ForEachMessage(content, kResidencies, [&](Bytes residency) {
      is_known &= scan.entity_states_.contains(key(residency));
    });
    if (!is_known) counts.Add("entity_state_residency_lookup_failed"_stat);  // the rest is lost
  }

  void AddWakelocks() {
    constexpr uint32_t kWakelocks = 1, kIds = 2, kTimes = 3, kId = 1;
    std::set<uint64_t>& known = sequence.wakelocks;
    wire::ForEachMessage(content, kWakelocks, [&](Bytes wakelock) {
      const uint64_t id = NumberIn(wakelock, kId);
      if (known.contains(id)) counts.Add("kernel_wakelock_reused_id"_stat);
      Keep(known, id);
    });
    const std::vector<uint64_t> ids = NumbersIn(content, kIds);
    const size_t paired = std::min(ids.size(), NumbersIn(content, kTimes).size());
    for (size_t i = 0; i < paired; ++i)
      if (!known.contains(ids[i])) counts.Add("kernel_wakelock_unknown_id"_stat);
  }

  void AddGpuCounters() {
    constexpr uint32_t kDescriptor = 1, kCounters = 2, kDescriptorIid = 4, kSpecs = 1, kId = 1,
                       kName = 2;
    if (Has(content, kCounters) && !view.timestamp)
      return counts.Add("gpu_counters_missing_timestamp"_stat);
    if (const auto iid = wire::LastVarint(content, kDescriptorIid);
        iid && !sequence.gpu_descriptors.contains(*iid))
      counts.Add("gpu_counters_invalid_spec"_stat);
    wire::ForEachMessage(content, kDescriptor, [&](Bytes descriptor) {
      wire::ForEachMessage(descriptor, kSpecs, [&](Bytes spec) {
        const uint64_t id = NumberIn(spec, kId);
        if (!HasAll(spec, {kId, kName}) || scan.gpu_counters_.contains(id))
          counts.Add("gpu_counters_invalid_spec"_stat);
        else
          Keep(scan.gpu_counters_, id);
      });
    });
  }

  void AddChrome() {
    constexpr uint32_t kMetadata = 2;
    wire::ForEachMessage(content, kMetadata, [&](Bytes entry) {
      if (!Has(entry, 2) && !Has(entry, 3) && !Has(entry, 4) && !Has(entry, 5))
        counts.Add("empty_chrome_metadata"_stat);
    });
  }

  /// The first thing that is wrong with a track event ends it.
  void AddTrackEvent() {
    constexpr uint64_t kCounterEvent = 4, kStateEvent = 5;
    constexpr uint32_t kPhase = 2, kUnscopedId = 6;
    if (event.is_left_out) return;
    if (event.has_negative_time) return counts.Add("track_event_invalid_timestamp"_stat);
    const auto track = event.track ? event.track : sequence.default_track;
    if (event.type == kCounterEvent) {
      if (!track) return counts.Add("track_event_counter_missing_track_uuid"_stat);
      if (!event.has_value) return counts.Add("track_event_counter_missing_value"_stat);
      if (!IsCounter(*track)) return counts.Add("track_event_counter_invalid_track_uuid"_stat);
    }
    if (event.type == kStateEvent && !track)
      return counts.Add("track_event_state_missing_track_uuid"_stat);
    if (event.has_extra)
      if (const auto wrong = WrongExtraCounters()) return counts.Add(*wrong);
    if (event.legacy.empty()) return;
    const uint64_t phase = NumberIn(event.legacy, kPhase);
    if ((phase == 's' || phase == 't' || phase == 'f') && !Has(event.legacy, kUnscopedId))
      counts.Add("flow_invalid_id"_stat);
  }

  std::optional<ContentStat> WrongExtraCounters() const {
    constexpr uint32_t kValues = 12, kDoubles = 46, kTracks = 31, kDoubleTracks = 45;
    constexpr size_t kMost = 8;
    size_t doubles = 0;
    wire::ForEachField(content, [&](const wire::VisitedField& field) {
      if (field.number == kDoubles)
        doubles += field.type == wire::Type::kBytes ? field.bytes.size() / sizeof(double) : 1;
    });
    const size_t whole = NumbersIn(content, kValues).size();
    std::vector<uint64_t> used;
    for (const bool is_double : {false, true}) {
      const size_t count = is_double ? doubles : whole;
      if (count == 0) continue;
      std::vector<uint64_t> tracks = NumbersIn(content, is_double ? kDoubleTracks : kTracks);
      if (tracks.empty()) tracks = is_double ? sequence.extra_double_tracks : sequence.extra_tracks;
      if (tracks.empty()) return "track_event_extra_counter_missing_track_uuids"_stat;
      if (tracks.size() < count) return "track_event_extra_counter_track_uuid_mismatch"_stat;
      used.insert(used.end(), tracks.begin(), tracks.begin() + static_cast<std::ptrdiff_t>(count));
    }
    if (whole + doubles > kMost) return "track_event_extra_counter_exceeds_max"_stat;
    if (!std::ranges::all_of(used, [&](uint64_t one) { return IsCounter(one); }))
      return "track_event_extra_counter_invalid_track"_stat;
    return std::nullopt;
  }

  void AddTrack() {
    constexpr uint32_t kUuid = 1, kPid = 1, kTid = 2, kProcess = 3, kThread = 4, kParent = 5,
                       kCounter = 8, kOrdering = 11;
    constexpr uint64_t kOrderings = 3;
    constexpr uint32_t kCategories = 2, kMultiplier = 4, kIsIncremental = 5;
    const auto uuid = wire::LastVarint(content, kUuid);
    const auto process = wire::LastBytes(content, kProcess);
    const auto thread = wire::LastBytes(content, kThread);
    const auto counter = wire::LastBytes(content, kCounter);
    const uint64_t parent = NumberIn(content, kParent);
    if (!uuid) return counts.Add("track_descriptor_missing_uuid"_stat);
    if (NumberIn(content, kOrdering) > kOrderings)
      return counts.Add("track_descriptor_invalid_child_ordering"_stat);
    if (thread && !HasAll(*thread, {kPid, kTid}))
      return counts.Add("track_descriptor_thread_missing_pid_tid"_stat);
    if (!thread && process && !Has(*process, kPid))
      return counts.Add("track_descriptor_process_missing_pid"_stat);
    if (*uuid == 0 && parent != 0)
      return counts.Add("track_descriptor_default_track_with_parent"_stat);
    std::string same;  // what must be equal whenever the track is described
    for (const uint64_t part :
         {parent, NumberIn(process.value_or(Bytes()), kPid),
          NumberIn(thread.value_or(Bytes()), kPid), NumberIn(thread.value_or(Bytes()), kTid),
          uint64_t{counter.has_value()}, NumberIn(counter.value_or(Bytes()), kMultiplier),
          NumberIn(counter.value_or(Bytes()), kIsIncremental)})
      wire::AppendVarint(same, part);
    same += wire::AsText(wire::BytesIn(counter.value_or(Bytes()), kCategories));
    const size_t hash = std::hash<std::string>()(same);
    if (const auto known = scan.tracks_.find(*uuid); known != scan.tracks_.end()) {
      if (known->second != hash) counts.Add("track_descriptor_conflicting_reservation"_stat);
      return;
    }
    if (is_full()) return;
    scan.tracks_.emplace(*uuid, hash);
    if (counter) scan.counters_.insert(*uuid);
  }

  bool is_full() const { return scan.tracks_.size() >= kMaxTracks; }
  bool IsCounter(uint64_t track) const { return scan.counters_.contains(track) || is_full(); }
};

void ContentScan::Add(const TracePacketView& packet, const TrackEventShape& event,
                      std::optional<int64_t> ns, SequenceContent& sequence, MachineFacts& machine) {
  if (packet.content != TracePacket::kFtraceEvents)  // of which each event is judged
    Judged{*this, packet, event, ns, sequence, machine}.Judge();
}

void ContentScan::EndGraph(SequenceContent& sequence, MachineFacts& machine, bool is_finished) {
  if (!sequence.graph) return;
  BrokenHeapDump& dump = sequence.graph->broken;
  dump.is_unfinished = !is_finished;
  has_unfinished_graph_ |= !is_finished;
  std::vector<BrokenHeapDump>& dumps = machine.profilers.heap_dumps;
  if ((!dump.missing.empty() || !is_finished) && dumps.size() < ProfilerFacts::kMaxDumps)
    dumps.push_back(dump);
  sequence.graph.reset();
}

}  // namespace ringscope
