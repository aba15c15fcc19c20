#ifndef RINGSCOPE_CORE_TRACE_CONTENT_STATS_H_
#define RINGSCOPE_CORE_TRACE_CONTENT_STATS_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/base/enum_names.h"
#include "core/trace/packet_view.h"

namespace ringscope {

/// Trace processor's severity of a counter.
enum class StatSeverity : uint8_t { kInfo, kDataLoss, kError };
template <>
inline constexpr std::array kEnumNames<StatSeverity> = {"info", "data_loss", "error"};

/// Counters of trace processor that count what is in packets, and what they lack.
enum class ContentStat : uint8_t {
  kPerfLostRecords,
  kPerfGuardrail,
  kPerfSkipped,
  kPerfQueueFull,
  kHeapOverran,
  kHeapCorrupted,
  kHeapRejected,
  kHeapGuardrail,
  kHeapClientError,
  kHeapDisconnected,
  kHeapMissing,
  kGraphMissing,
  kGraphUnfinished,
  kGraphLocation,
  kStreamingTime,
  kBundle,
  kCompactSched,
  kMmType,
  kSystrace,
  kThermalZone,
  kMeminfo,
  kVmstat,
  kCpuTimes,
  kPsi,
  kProcStat,
  kCpuInfo,
  kRailEmpty,
  kRailIndex,
  kEnergyDescriptor,
  kEnergyValues,
  kEnergyUid,
  kEntityState,
  kEntityLookup,
  kWakelockReused,
  kWakelockUnknown,
  kAtomTime,
  kModemTime,
  kPackagesParse,
  kPackagesRead,
  kGamesParse,
  kGamesRead,
  kUserList,
  kAflags,
  kLogFailed,
  kJournalFailed,
  kGpuTime,
  kGpuSpec,
  kSessionState,
  kMetatrace,
  kChromeMetadata,
  kVideoSize,
  kVideoCodec,
  kVideoGone,
  kVideoNoEncoder,
  kVideoNotFound,
  kVideoSetup,
  kVideoDisplay,
  kEventSequence,
  kEventTime,
  kEventInvalidTime,
  kCounterTrack,
  kCounterValue,
  kCounterInvalidTrack,
  kStateTrack,
  kExtraTracks,
  kExtraMismatch,
  kExtraMax,
  kExtraInvalid,
  kTrackUuid,
  kTrackOrdering,
  kTrackThread,
  kTrackProcess,
  kTrackParent,
  kTrackConflict,
  kThreadSequence,
  kRangeStart,
  kFlowId,
  kClearSequence,
  kDropSequence,
  kDefaultsSequence,
  kInternedSequence,
  kClockDomains,
};
struct ContentStatRow {
  ContentStat value;
  const char* name;  // trace processor's
  StatSeverity severity;
  const char* text;         // what it counts, in the plural
  bool is_indexed = false;  // by pid or CPU, or by a session's number
};
constexpr StatSeverity kInfoStat = StatSeverity::kInfo, kLossStat = StatSeverity::kDataLoss,
                       kErrorStat = StatSeverity::kError;
template <>
inline constexpr auto kEnumRows<ContentStat> = EnumTable<ContentStatRow>({
    {ContentStat::kPerfLostRecords, "perf_cpu_lost_records", kLossStat,
     "samples that the kernel's ring buffer of perf had no space for", true},
    {ContentStat::kPerfGuardrail, "perf_guardrail_stop_ts", kLossStat,
     "the time at which a guardrail stopped traced_perf", true},
    {ContentStat::kPerfSkipped, "perf_samples_skipped", kErrorStat,
     "samples without a callstack: it could not be read or unwound"},
    {ContentStat::kPerfQueueFull, "perf_samples_skipped_dataloss", kLossStat,
     "samples without a callstack: the queue of the unwinder was full"},
    {ContentStat::kHeapOverran, "heapprofd_buffer_overran", kLossStat,
     "heap profiles that end early: the buffer between client and heapprofd was full", true},
    {ContentStat::kHeapCorrupted, "heapprofd_buffer_corrupted", kErrorStat,
     "heap profiles with a corrupted buffer", true},
    {ContentStat::kHeapRejected, "heapprofd_rejected_concurrent", kErrorStat,
     "heap profiles that were refused: another session profiles the process", true},
    {ContentStat::kHeapGuardrail, "heapprofd_hit_guardrail", kErrorStat,
     "heap profiles that a guardrail ended", true},
    {ContentStat::kHeapClientError, "heapprofd_client_error", kErrorStat,
     "the error with which the client stopped profiling", true},
    {ContentStat::kHeapDisconnected, "heapprofd_client_disconnected", kInfoStat,
     "clients that disconnected before the end", true},
    {ContentStat::kHeapMissing, "heapprofd_missing_packet", kErrorStat,
     "packets of heap profiles that are missing"},
    {ContentStat::kGraphMissing, "heap_graph_missing_packet", kErrorStat,
     "places of Java heap dumps where packets are missing", true},
    {ContentStat::kGraphUnfinished, "heap_graph_non_finalized_graph", kLossStat,
     "Java heap dumps without their last packet"},
    {ContentStat::kGraphLocation, "heap_graph_invalid_string_id", kErrorStat,
     "types of Java heap dumps with an unknown location", true},
    {ContentStat::kStreamingTime, "streaming_profile_invalid_timestamp", kErrorStat,
     "streaming profiles with a negative time"},
    {ContentStat::kBundle, "ftrace_bundle_tokenizer_errors", kErrorStat,
     "ftrace bundles without a CPU, and events without a time"},
    {ContentStat::kCompactSched, "compact_sched_has_parse_errors", kErrorStat,
     "lists of compact sched events that are not whole"},
    {ContentStat::kMmType, "mm_unknown_type", kErrorStat, "mm_event records of an unknown type"},
    {ContentStat::kSystrace, "systrace_parse_failure", kErrorStat,
     "prints of atrace that are not whole"},
    {ContentStat::kThermalZone, "ftrace_thermal_exynos_acpm_unknown_tz_id", kErrorStat,
     "thermal events of an unknown zone"},
    {ContentStat::kMeminfo, "meminfo_unknown_keys", kErrorStat, "unknown counters of meminfo"},
    {ContentStat::kVmstat, "vmstat_unknown_keys", kErrorStat, "unknown counters of vmstat"},
    {ContentStat::kCpuTimes, "invalid_cpu_times", kErrorStat, "CPU times without a CPU"},
    {ContentStat::kPsi, "psi_unknown_resource", kErrorStat, "PSI samples of an unknown resource"},
    {ContentStat::kProcStat, "proc_stat_unknown_counters", kErrorStat,
     "unknown counters of processes"},
    {ContentStat::kCpuInfo, "cpu_info_empty", kErrorStat, "cpu_info packets without a CPU"},
    {ContentStat::kRailEmpty, "power_rail_empty_packet", kErrorStat,
     "power_rails packets without data"},
    {ContentStat::kRailIndex, "power_rail_unknown_index", kErrorStat,
     "values of power rails without a descriptor"},
    {ContentStat::kEnergyDescriptor, "energy_descriptor_invalid", kErrorStat,
     "energy consumers and states without an id"},
    {ContentStat::kEnergyValues, "energy_breakdown_missing_values", kErrorStat,
     "energy breakdowns that are not whole"},
    {ContentStat::kEnergyUid, "energy_uid_breakdown_missing_values", kErrorStat,
     "energy breakdowns by uid that are not whole"},
    {ContentStat::kEntityState, "entity_state_residency_invalid", kErrorStat,
     "residencies of entity states without a value"},
    {ContentStat::kEntityLookup, "entity_state_residency_lookup_failed", kErrorStat,
     "residencies of entity states without a descriptor"},
    {ContentStat::kWakelockReused, "kernel_wakelock_reused_id", kErrorStat,
     "ids of kernel wakelocks that are defined twice"},
    {ContentStat::kWakelockUnknown, "kernel_wakelock_unknown_id", kErrorStat,
     "kernel wakelocks without a name"},
    {ContentStat::kAtomTime, "atom_timestamp_missing", kErrorStat, "statsd atoms without a time"},
    {ContentStat::kModemTime, "pixel_modem_negative_timestamp", kErrorStat,
     "modem events with a negative time"},
    {ContentStat::kPackagesParse, "packages_list_has_parse_errors", kErrorStat,
     "1 if the list of packages could not be parsed"},
    {ContentStat::kPackagesRead, "packages_list_has_read_errors", kErrorStat,
     "1 if the list of packages could not be read"},
    {ContentStat::kGamesParse, "game_intervention_has_parse_errors", kErrorStat,
     "1 if the list of game interventions could not be parsed"},
    {ContentStat::kGamesRead, "game_intervention_has_read_errors", kErrorStat,
     "1 if the list of game interventions could not be read"},
    {ContentStat::kUserList, "user_list_errors", kErrorStat, "lists of users with an error"},
    {ContentStat::kAflags, "android_aflags_errors", kErrorStat, "lists of flags with an error"},
    {ContentStat::kLogFailed, "android_log_num_failed", kErrorStat,
     "log entries that could not be read"},
    {ContentStat::kJournalFailed, "systemd_journal_num_failed", kErrorStat,
     "journal entries that could not be read"},
    {ContentStat::kGpuTime, "gpu_counters_missing_timestamp", kErrorStat,
     "GPU counters without a time"},
    {ContentStat::kGpuSpec, "gpu_counters_invalid_spec", kErrorStat,
     "GPU counters whose descriptor is incomplete, missing or there twice"},
    {ContentStat::kSessionState, "concurrent_session_event_unknown_state", kErrorStat,
     "events of other sessions with an unknown state"},
    {ContentStat::kMetatrace, "metatrace_overruns", kErrorStat,
     "places where the buffer of Perfetto's own trace was full"},
    {ContentStat::kChromeMetadata, "empty_chrome_metadata", kErrorStat,
     "entries of Chrome's metadata without a value"},
    {ContentStat::kVideoSize, "android_video_size_cap_hit", kLossStat,
     "videos of the display that reached their size limit"},
    {ContentStat::kVideoCodec, "android_video_codec_error", kErrorStat,
     "videos of the display with a codec error"},
    {ContentStat::kVideoGone, "android_video_display_gone", kErrorStat,
     "videos of a display that went away"},
    {ContentStat::kVideoNoEncoder, "android_video_no_encoder", kErrorStat,
     "videos of the display without an encoder"},
    {ContentStat::kVideoNotFound, "android_video_display_not_found", kErrorStat,
     "videos of a display that was not found"},
    {ContentStat::kVideoSetup, "android_video_encoder_setup_failed", kErrorStat,
     "videos of the display whose encoder could not be set up"},
    {ContentStat::kVideoDisplay, "android_video_virtual_display_failed", kErrorStat,
     "videos of the display without a virtual display"},
    {ContentStat::kEventSequence, "track_event_missing_sequence_id", kErrorStat,
     "track events without a sequence"},
    {ContentStat::kEventTime, "track_event_missing_timestamp", kErrorStat,
     "track events without a time"},
    {ContentStat::kEventInvalidTime, "track_event_invalid_timestamp", kErrorStat,
     "track events with a negative time"},
    {ContentStat::kCounterTrack, "track_event_counter_missing_track_uuid", kErrorStat,
     "counter events without a track"},
    {ContentStat::kCounterValue, "track_event_counter_missing_value", kErrorStat,
     "counter events without a value"},
    {ContentStat::kCounterInvalidTrack, "track_event_counter_invalid_track_uuid", kErrorStat,
     "counter events on a track that is no counter"},
    {ContentStat::kStateTrack, "track_event_state_missing_track_uuid", kErrorStat,
     "state events without a track"},
    {ContentStat::kExtraTracks, "track_event_extra_counter_missing_track_uuids", kErrorStat,
     "track events whose extra counters have no tracks"},
    {ContentStat::kExtraMismatch, "track_event_extra_counter_track_uuid_mismatch", kErrorStat,
     "track events with more extra counters than tracks"},
    {ContentStat::kExtraMax, "track_event_extra_counter_exceeds_max", kErrorStat,
     "track events with more than 8 extra counters"},
    {ContentStat::kExtraInvalid, "track_event_extra_counter_invalid_track", kErrorStat,
     "track events with extra counters on a track that is no counter"},
    {ContentStat::kTrackUuid, "track_descriptor_missing_uuid", kErrorStat,
     "track descriptors without a uuid"},
    {ContentStat::kTrackOrdering, "track_descriptor_invalid_child_ordering", kErrorStat,
     "track descriptors with an unknown order of their children"},
    {ContentStat::kTrackThread, "track_descriptor_thread_missing_pid_tid", kErrorStat,
     "tracks of threads without pid or tid"},
    {ContentStat::kTrackProcess, "track_descriptor_process_missing_pid", kErrorStat,
     "tracks of processes without pid"},
    {ContentStat::kTrackParent, "track_descriptor_default_track_with_parent", kErrorStat,
     "descriptors of the default track with a parent"},
    {ContentStat::kTrackConflict, "track_descriptor_conflicting_reservation", kErrorStat,
     "descriptors of a track that contradict an earlier one"},
    {ContentStat::kThreadSequence, "thread_descriptor_missing_sequence_id", kErrorStat,
     "thread descriptors without a sequence"},
    {ContentStat::kRangeStart, "track_event_range_of_interest_missing_start_us", kErrorStat,
     "ranges of interest without a start"},
    {ContentStat::kFlowId, "flow_invalid_id", kErrorStat, "legacy flow events without an id"},
    {ContentStat::kClearSequence, "incremental_state_cleared_missing_sequence_id", kErrorStat,
     "packets that clear the state of no sequence"},
    {ContentStat::kDropSequence, "previous_packet_dropped_missing_sequence_id", kErrorStat,
     "packets that report a loss of no sequence"},
    {ContentStat::kDefaultsSequence, "trace_packet_defaults_missing_sequence_id", kErrorStat,
     "packet defaults of no sequence"},
    {ContentStat::kInternedSequence, "interned_data_missing_sequence_id", kErrorStat,
     "interned data of no sequence"},
    {ContentStat::kClockDomains, "clock_sync_unrelatable_clock_domains", kErrorStat,
     "1 if no snapshot relates BOOTTIME to the trace's clock"},
});

/// The values of these counters. Memory: kMaxIndexes values.
class ContentCounts {
 public:
  static constexpr size_t kMaxIndexes = 4096;

  void Add(ContentStat stat, uint64_t count = 1) { single_[static_cast<size_t>(stat)] += count; }
  void Set(ContentStat stat, uint64_t value) { single_[static_cast<size_t>(stat)] = value; }
  uint64_t operator[](ContentStat stat) const { return single_[static_cast<size_t>(stat)]; }
  /// Returns the value of an index, or one that nobody reads beyond the limit.
  uint64_t& At(ContentStat stat, uint64_t index) {
    if (indexed_.size() >= kMaxIndexes) return ignored_;
    return indexed_[{stat, static_cast<uint32_t>(index)}];
  }
  const std::map<std::pair<ContentStat, uint32_t>, uint64_t>& indexed() const { return indexed_; }

 private:
  std::array<uint64_t, kEnumRows<ContentStat>.size()> single_{};
  std::map<std::pair<ContentStat, uint32_t>, uint64_t> indexed_;
  uint64_t ignored_ = 0;
};

/// A Java heap dump with packets missing.
struct BrokenHeapDump {
  uint64_t pid = 0;
  std::vector<uint64_t> missing;  // numbers of the packets, from 0; the first few
  bool is_unfinished = false;     // its last packet is missing
};
/// What profilers report.
struct ProfilerFacts {
  static constexpr size_t kMaxDumps = 64;

  std::array<uint64_t, 4> perf_samples{};  // by sample_skipped_reason; 0: with a callstack
  std::vector<BrokenHeapDump> heap_dumps;
};

/// The fields of a TrackEvent that decide whether trace processor takes it.
struct TrackEventShape {
  uint64_t type = 0;
  std::optional<uint64_t> track;
  bool has_value = false, has_extra = false;
  Bytes legacy;  // legacy_event
  bool has_own_time = false, has_negative_time = false;
  bool is_left_out = false;  // for a reason that was counted, or as what it needs is lost
};

/// What later packets of a sequence are judged by.
struct SequenceContent {
  struct Graph {  // a Java heap dump that has begun
    uint64_t pid = 0, next_index = 0;
    uint64_t time = 0;
    bool has_objects = false;
    std::set<uint64_t> locations;
    std::vector<uint64_t> of_types;
    BrokenHeapDump broken;
  };
  std::optional<uint64_t> default_track;
  std::vector<uint64_t> extra_tracks, extra_double_tracks;  // of the defaults
  std::optional<uint64_t> profile_index;                    // of the last ProfilePacket
  std::optional<uint32_t> perf_session;
  std::unique_ptr<Graph> graph;
  std::set<uint64_t> wakelocks, gpu_descriptors;  // ids

  /// Takes in what a packet changes, before its own content is judged.
  void Update(const TracePacketView& packet);
};

/// Judges the content of a trace's packets as trace processor does. Memory: kMaxTracks tracks and
/// ids, beyond which what refers to them is not judged.
class ContentScan {
 public:
  static constexpr size_t kMaxTracks = 100'000;

  /// A packet that trace processor uses.
  /// @param event of a track event @param ns its time, if it is known
  void Add(const TracePacketView& packet, const TrackEventShape& event, std::optional<int64_t> ns,
           SequenceContent& sequence, ContentCounts& counts, ProfilerFacts& profilers);
  /// The end of a sequence.
  void Finish(SequenceContent& sequence, ProfilerFacts& profilers);
  /// Returns true if a dump is not finished. After all sequences' ends.
  bool has_unfinished_graph() const { return has_unfinished_graph_; }

 private:
  struct Packet {
    const TracePacketView& view;
    const TrackEventShape& event;
    std::optional<int64_t> ns;
    SequenceContent& sequence;
    ContentCounts& counts;
    ProfilerFacts& profilers;

    Bytes content() const { return view.content_bytes; }
  };
  struct Visitor {
    uint32_t content;
    void (ContentScan::*visit)(const Packet&);
  };
  static const Visitor kVisitors[25];

  void AddPerfSample(const Packet& packet);
  void AddProfile(const Packet& packet);
  void AddHeapGraph(const Packet& packet);
  void AddSysStats(const Packet& packet);
  void AddProcessStats(const Packet& packet);
  void AddPowerRails(const Packet& packet);
  void AddEnergy(const Packet& packet);
  void AddEntityStates(const Packet& packet);
  void AddWakelocks(const Packet& packet);
  void AddGpuCounters(const Packet& packet);
  void AddChrome(const Packet& packet);
  void AddReported(const Packet& packet);
  void AddOther(const Packet& packet);
  void AddTrackEvent(const Packet& packet);
  void AddTrack(const Packet& packet);
  void EndGraph(SequenceContent& sequence, ProfilerFacts& profilers);
  bool IsCounter(uint64_t track) const { return counters_.contains(track) || is_full(); }
  bool is_full() const { return tracks_.size() >= kMaxTracks; }

  std::unordered_map<uint64_t, size_t> tracks_;    // by uuid, a hash of what must stay the same
  std::unordered_set<uint64_t> counters_;          // uuids of counter tracks
  std::set<std::pair<uint64_t, uint64_t>> rails_;  // session and index
  std::set<uint64_t> energy_consumers_, gpu_counters_;
  std::set<std::pair<uint64_t, uint64_t>> entity_states_;
  uint32_t perf_sessions_ = 0;
  bool has_unfinished_graph_ = false;
};

/// Judges an event of ftrace. @param event an FtraceEvent
void AddFtraceEvent(Bytes event, ContentCounts& counts);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TRACE_CONTENT_STATS_H_
