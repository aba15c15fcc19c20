#ifndef RINGSCOPE_CORE_TRACE_PACKET_REPORTS_H_
#define RINGSCOPE_CORE_TRACE_PACKET_REPORTS_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "core/trace/packet_view.h"
#include "core/trace/stat_rows.h"

namespace ringscope {

/// What packets of producers report as lost or failed, or lack themselves: each is a row of trace
/// processor's.
enum class Reported : uint8_t {
  kHeapOverran,
  kHeapCorrupted,
  kHeapClientError,
  kHeapGuardrail,
  kHeapRejected,
  kHeapMissing,
  kPerfLost,
  kPerfSkipped,
  kPerfSkippedLoss,
  kPerfStopped,
  kPackagesParse,
  kPackagesRead,
  kGamesParse,
  kGamesRead,
  kAndroidLog,
  kJournal,
  kMetatrace,
  kGpuCountersWithoutTime,
  kTrackWithoutUuid,
  kProcessTrackWithoutPid,
  kThreadTrackWithoutIds,
  kTrackEventWithoutSequence,
  kThreadWithoutSequence,
};

/// The row of each, in their order.
struct ReportedRow {
  const char* name;
  StatSeverity severity;
  bool has_index;  // of a process or a CPU: there is no row before something is reported
};
inline constexpr std::array<ReportedRow, 23> kReportedRows = {{
    {"heapprofd_buffer_overran", StatSeverity::kDataLoss, true},
    {"heapprofd_buffer_corrupted", StatSeverity::kError, true},
    {"heapprofd_client_error", StatSeverity::kError, true},
    {"heapprofd_hit_guardrail", StatSeverity::kError, true},
    {"heapprofd_rejected_concurrent", StatSeverity::kError, true},
    {"heapprofd_missing_packet", StatSeverity::kError, false},
    {"perf_cpu_lost_records", StatSeverity::kDataLoss, true},
    {"perf_samples_skipped", StatSeverity::kError, false},
    {"perf_samples_skipped_dataloss", StatSeverity::kDataLoss, false},
    {"perf_guardrail_stop_ts", StatSeverity::kDataLoss, true},
    {"packages_list_has_parse_errors", StatSeverity::kError, false},
    {"packages_list_has_read_errors", StatSeverity::kError, false},
    {"game_intervention_has_parse_errors", StatSeverity::kError, false},
    {"game_intervention_has_read_errors", StatSeverity::kError, false},
    {"android_log_num_failed", StatSeverity::kError, false},
    {"systemd_journal_num_failed", StatSeverity::kError, false},
    {"metatrace_overruns", StatSeverity::kError, false},
    {"gpu_counters_missing_timestamp", StatSeverity::kError, false},
    {"track_descriptor_missing_uuid", StatSeverity::kError, false},
    {"track_descriptor_process_missing_pid", StatSeverity::kError, false},
    {"track_descriptor_thread_missing_pid_tid", StatSeverity::kError, false},
    {"track_event_missing_sequence_id", StatSeverity::kError, false},
    {"thread_descriptor_missing_sequence_id", StatSeverity::kError, false},
}};
inline const ReportedRow& RowOf(Reported what) { return kReportedRows[static_cast<size_t>(what)]; }

/// Counts them. Memory: O(processes and CPUs that report something, sequences of heap profiles),
/// at most kMaxRows and kMaxSequences.
class PacketReports {
 public:
  static constexpr size_t kMaxRows = 10'000, kMaxSequences = 10'000;

  /// By what it is, and the process or CPU of those that have one.
  using Key = std::pair<Reported, std::optional<uint32_t>>;

  /// Whether Add is of use for a packet with this content (of proto::TracePacket).
  static bool Wants(uint32_t content);
  /// Reads a packet that trace processor uses.
  /// @param ns its time; nullopt: it has none, or none that is known
  void Add(const TracePacketView& packet, const std::optional<int64_t>& ns);

  const std::map<Key, uint64_t>& counts() const { return counts_; }
  /// Over all processes and CPUs.
  uint64_t Sum(Reported what) const;
  /// Counts, as a packet would.
  void Count(Reported what, std::optional<uint32_t> index = {}, uint64_t times = 1);
  /// The value of the row from now on.
  void Set(Reported what, std::optional<uint32_t> index, uint64_t value);

 private:
  void AddHeapProfile(const TracePacketView& packet);
  void AddHeapDump(Bytes dump);
  void AddPerfSample(Bytes sample, const std::optional<int64_t>& ns);
  void AddTrack(Bytes track);
  uint64_t* At(Reported what, std::optional<uint32_t> index);

  std::map<Key, uint64_t> counts_;
  std::map<uint32_t, uint64_t> next_heap_index_;  // by sequence
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TRACE_PACKET_REPORTS_H_
