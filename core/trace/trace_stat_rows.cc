// Trace processor's statistics of a trace file.

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "core/base/wire.h"
#include "core/perfetto/trace_config_facts.h"
#include "core/trace/trace_scan.h"

namespace ringscope {
namespace {

constexpr StatSeverity kError = StatSeverity::kError, kLoss = StatSeverity::kDataLoss;

void AddAllBufferRows(StatRows& rows, const TraceFacts& facts, bool into_file) {
  for (size_t i = 0; i < facts.buffers.size(); ++i) {
    const TraceBuffer& buffer = facts.buffers[i];
    const auto index = static_cast<uint32_t>(i);
    if (buffer.has_stats) AddBufferRows(rows, index, buffer.stats);
    if (buffer.has_losses) AddLossRows(rows, index, buffer.losses, buffer.dropped_sequences);
    if (buffer.has_stats && into_file) AddFileRow(rows, index, buffer.stats);
  }
  for (const auto& [index, times] : facts.discards_into_file) AddDiscardRow(rows, index, times);
}

void AddClockRows(StatRows& rows, const MachineFacts& facts) {
  std::array<uint64_t, 3> failed{};
  for (const ClockProblem& problem : facts.clock_problems)
    failed[static_cast<size_t>(problem.failure)] += problem.packets;
  constexpr std::array kNames = {"unknown_source_clock", "unknown_target_clock", "no_path"};
  for (size_t i = 0; i < failed.size(); ++i)
    AddRow(rows, std::string("clock_sync_failure_") + kNames[i], {}, kError, failed[i]);
  AddRow(rows, "clock_sync_failure_undeferrable_packet_loss", {}, kLoss, facts.undeferrable);
}

/// What trace processor counts by machine.
void AddMachineRows(StatRows& rows, const MachineFacts& facts) {
  const auto add = [&rows](const char* name, uint64_t value) {
    AddRow(rows, name, {}, kError, value);
  };
  AddFtraceRows(rows, facts.ftrace);
  add("ftrace_bundle_tokenizer_errors", facts.bundles_without_cpu + facts.events_without_time);
  add("compact_sched_has_parse_errors", facts.bad_compact_sched > 0 ? 1 : 0);
  AddClockRows(rows, facts);
  add("incremental_state_cleared_missing_sequence_id", facts.clears_without_sequence);
  add("previous_packet_dropped_missing_sequence_id", facts.drops_without_sequence);
  add("trace_packet_defaults_missing_sequence_id", facts.defaults_without_sequence);
  add("interned_data_missing_sequence_id", facts.interned_without_sequence);
  add("track_event_missing_timestamp", facts.track_events_without_time);
  add("atom_timestamp_missing", facts.atoms_without_time);
  add("gpu_counters_missing_timestamp", facts.gpu_counters_without_time);
  add("track_descriptor_missing_uuid", facts.tracks_without_uuid);
  add("track_descriptor_process_missing_pid", facts.process_tracks_without_pid);
  add("track_descriptor_thread_missing_pid_tid", facts.thread_tracks_without_ids);
  add("track_event_missing_sequence_id", facts.track_events_without_sequence);
  add("thread_descriptor_missing_sequence_id", facts.threads_without_sequence);
}

/// Whether nothing ever flushed the producers of a session that was written into a file. Since v54
/// the service does that by itself.
bool LacksFlushes(const TraceConfigFacts& config, const TraceFacts& facts) {
  if (!config.write_into_file || config.flush_period_ms.value_or(0) > 0) return false;
  constexpr uint64_t kFlushesByItself = 54;
  return ServiceRelease(facts.service_version).value_or(0) < kFlushesByItself;
}

}  // namespace

std::optional<uint64_t> ServiceRelease(std::string_view version) {
  for (size_t at = version.find('v'); at != std::string_view::npos;
       at = version.find('v', at + 1)) {
    uint64_t release = 0;
    const char* const end = version.data() + version.size();
    if (std::from_chars(version.data() + at + 1, end, release).ec == std::errc()) return release;
  }
  return std::nullopt;
}

StatRows StatRowsOf(const TraceFacts& facts) {
  StatRows rows;
  const TraceConfigFacts config =
      ReadTraceConfigFacts(facts.config ? wire::AsBytes(*facts.config) : Bytes());
  AddAllBufferRows(rows, facts, config.write_into_file);
  if (facts.stats_packets > 0)
    AddServiceRows(rows, facts.service, facts.final_flushes_succeeded, facts.final_flushes_failed);
  const auto add = [&rows](const char* name, StatSeverity severity, uint64_t value) {
    AddRow(rows, name, {}, severity, value);
  };
  if (facts.has_filter) add("filter_errors", kError, facts.filter_errors);
  add("config_write_into_file_no_flush", kError, LacksFlushes(config, facts) ? 1 : 0);
  add("invalid_clock_snapshots", kError, facts.invalid_snapshots);
  add("trace_sorter_negative_timestamp_dropped", kError, facts.negative_times);
  add("sorter_push_event_out_of_order", kError, facts.late_events);
  AddMachineRows(rows, facts);
  for (const auto& [machine, remote] : facts.remotes) {
    const size_t first = rows.size();
    AddMachineRows(rows, remote);
    for (size_t i = first; i < rows.size(); ++i) rows[i].machine = machine;
  }
  return rows;
}

}  // namespace ringscope
