#ifndef RINGSCOPE_CORE_TRACE_CONTENT_STATS_H_
#define RINGSCOPE_CORE_TRACE_CONTENT_STATS_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/base/enum_names.h"
#include "core/trace/packet_view.h"

namespace ringscope {

struct MachineFacts;

/// Trace processor's severity of a counter.
enum class StatSeverity : uint8_t { kInfo, kDataLoss, kError };
template <>
inline constexpr std::array kEnumNames<StatSeverity> = {"info", "data_loss", "error"};

constexpr StatSeverity kInfoStat = StatSeverity::kInfo, kLossStat = StatSeverity::kDataLoss,
                       kErrorStat = StatSeverity::kError;

/// A counter of trace processor that counts what is in packets, or what they lack.
struct ContentStatRow {
  const char* name;  // trace processor's
  const char* text;  // what it counts, in the plural
  StatSeverity severity = kErrorStat;
  bool is_indexed = false;  // by pid or CPU, or by a session's number
  /// Nothing that the packets have is missing by it: they lack what is optional or have numbers of
  /// later kernels.
  bool loses_nothing = false;
};
inline constexpr auto kContentStats = std::to_array<ContentStatRow>({
    {"perf_cpu_lost_records", "samples that the kernel's ring buffer of perf had no space for",
     kLossStat, true},
    {"perf_guardrail_stop_ts", "the time at which a guardrail stopped traced_perf", kLossStat,
     true},
    {"perf_samples_skipped", "samples without a callstack: it could not be read or unwound"},
    {"perf_samples_skipped_dataloss",
     "samples without a callstack: the queue of the unwinder was full", kLossStat},
    {"heapprofd_buffer_overran",
     "heap profiles that end early: the buffer between client and heapprofd was full", kLossStat,
     true},
    {"heapprofd_buffer_corrupted", "heap profiles with a corrupted buffer", kErrorStat, true},
    {"heapprofd_rejected_concurrent",
     "heap profiles that were refused: another session profiles the process", kErrorStat, true},
    {"heapprofd_hit_guardrail", "heap profiles that a guardrail ended", kErrorStat, true},
    {"heapprofd_client_error", "the error with which the client stopped profiling", kErrorStat,
     true},
    {"heapprofd_client_disconnected", "clients that disconnected before the end", kInfoStat, true},
    {"heapprofd_missing_packet", "packets of heap profiles that are missing"},
    {"heap_graph_missing_packet", "places of Java heap dumps where packets are missing", kErrorStat,
     true},
    {"heap_graph_non_finalized_graph", "Java heap dumps without their last packet", kLossStat},
    {"heap_graph_invalid_string_id", "types of Java heap dumps with an unknown location",
     kErrorStat, true},
    {"streaming_profile_invalid_timestamp", "streaming profiles with a negative time"},
    {"ftrace_bundle_tokenizer_errors", "ftrace bundles without a CPU, and events without a time"},
    {"compact_sched_has_parse_errors", "lists of compact sched events that are not whole"},
    {"mm_unknown_type", "mm_event records of an unknown type"},
    {"systrace_parse_failure", "prints of atrace that are not whole"},
    {"ftrace_thermal_exynos_acpm_unknown_tz_id", "thermal events of an unknown zone"},
    {"meminfo_unknown_keys", "unknown counters of meminfo", kErrorStat, false, true},
    {"vmstat_unknown_keys", "unknown counters of vmstat", kErrorStat, false, true},
    {"invalid_cpu_times", "CPU times without a CPU"},
    {"psi_unknown_resource", "PSI samples of an unknown resource"},
    {"proc_stat_unknown_counters", "unknown counters of processes", kErrorStat, false, true},
    {"cpu_info_empty", "cpu_info packets without a CPU", kErrorStat, false, true},
    {"power_rail_empty_packet", "power_rails packets without data", kErrorStat, false, true},
    {"power_rail_unknown_index", "values of power rails without a descriptor"},
    {"energy_descriptor_invalid", "energy consumers and states without an id"},
    {"energy_breakdown_missing_values", "energy breakdowns that are not whole"},
    {"energy_uid_breakdown_missing_values", "energy breakdowns by uid that are not whole"},
    {"entity_state_residency_invalid", "residencies of entity states without a value", kErrorStat,
     false, true},
    {"entity_state_residency_lookup_failed", "residencies of entity states without a descriptor"},
    {"kernel_wakelock_reused_id", "ids of kernel wakelocks that are defined twice"},
    {"kernel_wakelock_unknown_id", "kernel wakelocks without a name"},
    {"atom_timestamp_missing", "statsd atoms without a time"},
    {"pixel_modem_negative_timestamp", "modem events with a negative time"},
    {"packages_list_has_parse_errors", "1 if the list of packages could not be parsed"},
    {"packages_list_has_read_errors", "1 if the list of packages could not be read"},
    {"game_intervention_has_parse_errors",
     "1 if the list of game interventions could not be parsed"},
    {"game_intervention_has_read_errors", "1 if the list of game interventions could not be read"},
    {"user_list_errors", "lists of users with an error"},
    {"android_aflags_errors", "lists of flags with an error"},
    {"android_log_num_failed", "log entries that could not be read"},
    {"systemd_journal_num_failed", "journal entries that could not be read"},
    {"gpu_counters_missing_timestamp", "GPU counters without a time"},
    {"gpu_counters_invalid_spec",
     "GPU counters whose descriptor is incomplete, missing or there twice"},
    {"concurrent_session_event_unknown_state", "events of other sessions with an unknown state"},
    {"metatrace_overruns", "places where the buffer of Perfetto's own trace was full"},
    {"empty_chrome_metadata", "entries of Chrome's metadata without a value", kErrorStat, false,
     true},
    {"android_video_size_cap_hit", "videos of the display that reached their size limit",
     kLossStat},
    {"android_video_codec_error", "videos of the display with a codec error"},
    {"android_video_display_gone", "videos of a display that went away"},
    {"android_video_no_encoder", "videos of the display without an encoder"},
    {"android_video_display_not_found", "videos of a display that was not found"},
    {"android_video_encoder_setup_failed",
     "videos of the display whose encoder could not be set up"},
    {"android_video_virtual_display_failed", "videos of the display without a virtual display"},
    {"track_event_missing_sequence_id", "track events without a sequence"},
    {"track_event_missing_timestamp", "track events without a time"},
    {"track_event_invalid_timestamp", "track events with a negative time"},
    {"track_event_counter_missing_track_uuid", "counter events without a track"},
    {"track_event_counter_missing_value", "counter events without a value"},
    {"track_event_counter_invalid_track_uuid", "counter events on a track that is no counter"},
    {"track_event_state_missing_track_uuid", "state events without a track"},
    {"track_event_extra_counter_missing_track_uuids",
     "track events whose extra counters have no tracks"},
    {"track_event_extra_counter_track_uuid_mismatch",
     "track events with more extra counters than tracks"},
    {"track_event_extra_counter_exceeds_max", "track events with more than 8 extra counters"},
    {"track_event_extra_counter_invalid_track",
     "track events with extra counters on a track that is no counter"},
    {"track_descriptor_missing_uuid", "track descriptors without a uuid"},
    {"track_descriptor_invalid_child_ordering",
     "track descriptors with an unknown order of their children"},
    {"track_descriptor_thread_missing_pid_tid", "tracks of threads without pid or tid"},
    {"track_descriptor_process_missing_pid", "tracks of processes without pid"},
    {"track_descriptor_default_track_with_parent",
     "descriptors of the default track with a parent"},
    {"track_descriptor_conflicting_reservation",
     "descriptors of a track that contradict an earlier one"},
    {"thread_descriptor_missing_sequence_id", "thread descriptors without a sequence"},
    {"track_event_range_of_interest_missing_start_us", "ranges of interest without a start"},
    {"flow_invalid_id", "legacy flow events without an id"},
    {"incremental_state_cleared_missing_sequence_id",
     "packets that clear the state of no sequence"},
    {"previous_packet_dropped_missing_sequence_id", "packets that report a loss of no sequence"},
    {"trace_packet_defaults_missing_sequence_id", "packet defaults of no sequence"},
    {"interned_data_missing_sequence_id", "interned data of no sequence"},
    {"clock_sync_unrelatable_clock_domains",
     "1 if no snapshot relates BOOTTIME to the trace's clock", kErrorStat, false, true},
});

/// The number of a counter in kContentStats: "cpu_info_empty"_stat.
enum class ContentStat : uint8_t {};
consteval ContentStat operator""_stat(const char* name, size_t) {
  size_t at = 0;
  while (std::string_view(kContentStats.at(at).name) != name) ++at;  // does not compile at the end
  return static_cast<ContentStat>(at);
}
constexpr const ContentStatRow& RowOf(ContentStat stat) {
  return kContentStats[static_cast<size_t>(stat)];
}

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
  std::array<uint64_t, kContentStats.size()> single_{};
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
  bool has_own_categories = false;  // that are not interned
  bool is_left_out = false;         // for a reason that was counted, or as what it needs is lost
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
           SequenceContent& sequence, MachineFacts& machine);
  /// The end of a heap dump, with its last packet or with its sequence.
  void EndGraph(SequenceContent& sequence, MachineFacts& machine, bool is_finished);
  /// Returns true if a dump is not finished. After all sequences' ends.
  bool has_unfinished_graph() const { return has_unfinished_graph_; }

 private:
  struct Judged;

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
