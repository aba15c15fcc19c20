#include "core/trace/stat_rows.h"

#include <charconv>
#include <utility>

#include "core/base/lookup.h"
#include "core/base/wire.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/trace_config_facts.h"
#include "core/trace/trace_facts.h"

namespace ringscope {
namespace {

constexpr std::array<std::pair<std::string_view, const char*>, 22> kMeanings = {{
    {"traced_buf_patches_failed",
     "patches that were refused, or whose chunk was overwritten: packets that stay incomplete"},
    {"traced_buf_abi_violations", "chunks or fragments that break the shared-memory protocol"},
    {"traced_buf_trace_writer_packet_loss", "packets that a writer itself dropped"},
    {"traced_buf_sequence_packet_loss",
     "packets before which something of their sequence is missing"},
    {"traced_buf_incremental_sequences_dropped",
     "sequences with no usable packet among those that need incremental state"},
    {"traced_buf_data_loss_read_gap",
     "...because chunks between two reads were never committed, or overwritten"},
    {"traced_buf_data_loss_chunk_corrupted", "...because the rest of a chunk could not be parsed"},
    {"traced_buf_data_loss_orphan_continuation",
     "...because the end of a packet was found without its beginning"},
    {"traced_buf_data_loss_reassembly_gap", "...because a chunk was missing inside a packet"},
    {"traced_buf_data_loss_reassembly_broken_chain",
     "...because the next chunk did not continue the packet"},
    {"traced_buf_data_loss_overwrite", "...because it was overwritten before it was read"},
    {"traced_buf_data_loss_writer_abort", "...because the writer aborted it"},
    {"traced_buf_data_loss_smb_full", "...because the producer's shared memory was full"},
    {"trace_sorter_negative_timestamp_dropped",
     "events with a time before 0, which the importer drops"},
    {"invalid_clock_snapshots", "snapshots with a clock twice, or with clocks that go back"},
    {"filter_errors", "packets that the trace's filter could not parse, and removed"},
    {"traced_flushes_failed", "flushes that a producer did not acknowledge in time"},
    {"traced_final_flush_failed",
     "the flush before the stop, which a producer did not acknowledge"},
    {"config_write_into_file_discard",
     "a buffer that discards, in a session that is written into a file: what does not fit is lost"},
    {"long_trace_mode_bytes_overwritten",
     "bytes that were overwritten before the service wrote them into the file"},
    {"ftrace_cpu_has_data_loss", "the kernel overwrote events of this CPU before they were read"},
    {"ftrace_kprobe_misses_delta", "kprobes that the kernel could not record"},
}};

constexpr StatSeverity LossIf(bool is_data_loss) { return is_data_loss ? kLossStat : kInfoStat; }

void AddStatRow(StatRows& rows, std::string name, std::optional<uint32_t> index,
                StatSeverity severity, uint64_t value) {
  StatRow& row = rows.emplace_back(StatRow{std::move(name), index, severity, value});
  for (const auto& [known, text] : kMeanings)
    if (known == row.name) row.meaning = text;
  if (const ContentStatRow* const content = FindBy(kContentStats, row.name, &ContentStatRow::name))
    row.meaning = content->text, row.loses_nothing = content->loses_nothing;
}

void AddPhaseRows(StatRows& rows, const std::string& name, std::optional<uint32_t> cpu,
                  const FtracePhases& phases, std::optional<StatSeverity> delta) {
  if (phases.begin) AddStatRow(rows, name + "_begin", cpu, kInfoStat, *phases.begin);
  if (phases.end) AddStatRow(rows, name + "_end", cpu, kInfoStat, *phases.end);
  if (delta && phases.delta()) AddStatRow(rows, name + "_delta", cpu, *delta, *phases.delta());
}

/// Adds the counters that trace processor has by machine.
void AddMachineRows(StatRows& rows, const MachineFacts& facts) {
  std::array<uint64_t, 3> failed{};
  for (const ClockProblem& problem : facts.clock_problems)
    failed[static_cast<size_t>(problem.failure)] += problem.packets;
  AddFtraceRows(rows, facts.ftrace);
  const auto add = [&](const char* name, uint64_t value, StatSeverity severity = kErrorStat) {
    AddStatRow(rows, name, {}, severity, value);
  };
  add("clock_sync_failure_unknown_source_clock", failed[0]);
  add("clock_sync_failure_unknown_target_clock", failed[1]);
  add("clock_sync_failure_no_path", failed[2]);
  add("clock_sync_failure_undeferrable_packet_loss", facts.undeferrable, kLossStat);
  for (size_t i = 0; i < kContentStats.size(); ++i)
    if (const ContentStatRow& row = kContentStats[i]; !row.is_indexed)
      add(row.name, facts.content[static_cast<ContentStat>(i)], row.severity);
  for (const auto& [key, value] : facts.content.indexed())
    AddStatRow(rows, RowOf(key.first).name, key.second, RowOf(key.first).severity, value);
}

/// Returns true if nothing ever flushed the producers of a session that was written into a file.
/// Since v54 the service does that by itself.
bool LacksFlushes(const TraceConfigFacts& config, const TraceFacts& facts) {
  constexpr uint64_t kFlushesByItself = 54;
  return config.write_into_file && config.flush_period_ms.value_or(0) == 0 &&
         ServiceRelease(facts.service_version).value_or(0) < kFlushesByItself;
}

}  // namespace

void AddBufferRows(StatRows& rows, uint32_t index, const TraceBuffer& buffer, bool is_streamed) {
  const auto add = [&](const std::string& name, bool is_data_loss, uint64_t value) {
    AddStatRow(rows, name, index, LossIf(is_data_loss), value);
  };
  if (buffer.has_stats)
    for (const StatField& field : kStatFields)
      add(std::string("traced_buf_") + field.name, field.is_data_loss, buffer.stats.*field.value);
  if (buffer.has_losses) {
    add("traced_buf_sequence_packet_loss", true, buffer.losses.sequence_packet_loss);
    add("traced_buf_incremental_sequences_dropped", true, buffer.dropped_sequences);
    for (size_t bit = 0; bit < kLossBitNames.size(); ++bit)
      add(std::string("traced_buf_data_loss_") + kLossBitNames[bit].name, true,
          buffer.losses.by_bit[bit]);
  }
  if (buffer.has_stats && is_streamed)
    add("long_trace_mode_bytes_overwritten", true, buffer.stats.bytes_overwritten);
}

void AddDiscardRow(StatRows& rows, uint32_t index, uint64_t configs) {
  AddStatRow(rows, "config_write_into_file_discard", index, kLossStat, configs);
}

void AddServiceRows(StatRows& rows, const ServiceStats& service, uint64_t final_flushes_succeeded,
                    uint64_t final_flushes_failed) {
  for (const ServiceField& field : kServiceFields) {
    if (field.value == &ServiceStats::final_flush_outcome) {
      AddStatRow(rows, "traced_final_flush_succeeded", {}, kInfoStat, final_flushes_succeeded);
      AddStatRow(rows, "traced_final_flush_failed", {}, kLossStat, final_flushes_failed);
    } else if (field.proto_field != 0) {
      AddStatRow(rows, std::string("traced_") + field.name, {}, LossIf(field.is_data_loss),
                 service.*field.value);
    }
  }
}

void AddFtraceRows(StatRows& rows, const FtraceCounters& ftrace) {
  for (const auto& [number, cpu] : ftrace.cpus()) {
    const auto index = static_cast<uint32_t>(number);
    for (const FtraceCounterRow& row : kEnumRows<FtraceCounter>) {
      // Trace processor has no delta of times.
      const auto delta =
          row.is_time ? std::nullopt : std::optional(row.is_loss ? kErrorStat : kInfoStat);
      AddPhaseRows(rows, std::string("ftrace_cpu_") + row.name, index, cpu[row.value], delta);
    }
    if (cpu.bundles_after_loss > 0)
      AddStatRow(rows, "ftrace_cpu_has_data_loss", index, kLossStat, 1);
  }
  AddPhaseRows(rows, "ftrace_kprobe_hits", {}, ftrace.kprobe_hits, kInfoStat);
  AddPhaseRows(rows, "ftrace_kprobe_misses", {}, ftrace.kprobe_misses, kLossStat);
}

StatRows StatRowsOf(const TraceFacts& facts) {
  StatRows rows;
  const TraceConfigFacts config =
      ReadTraceConfigFacts(facts.config ? wire::AsBytes(*facts.config) : Bytes());
  for (uint32_t i = 0; i < facts.buffers.size(); ++i)
    AddBufferRows(rows, i, facts.buffers[i], config.IsStreamed());
  for (const auto& [index, times] : facts.discards_into_file) AddDiscardRow(rows, index, times);
  if (facts.stats_packets > 0)
    AddServiceRows(rows, facts.service, facts.final_flushes_succeeded, facts.final_flushes_failed);
  const auto add = [&rows](const char* name, uint64_t value) {
    AddStatRow(rows, name, {}, kErrorStat, value);
  };
  if (facts.has_filter) add("filter_errors", facts.filter_errors);
  add("config_write_into_file_no_flush", LacksFlushes(config, facts) ? 1 : 0);
  add("invalid_clock_snapshots", facts.invalid_snapshots);
  add("trace_sorter_negative_timestamp_dropped", facts.negative_times);
  add("sorter_push_event_out_of_order", facts.late_events);
  AddMachineRows(rows, facts);
  for (const auto& [machine, remote] : facts.remotes) {
    const size_t first = rows.size();
    AddMachineRows(rows, remote);
    for (size_t i = first; i < rows.size(); ++i) rows[i].machine = machine;
  }
  return rows;
}

std::optional<uint64_t> ServiceRelease(std::string_view version) {
  for (size_t at = version.find('v'); at != std::string_view::npos;
       at = version.find('v', at + 1)) {
    uint64_t release = 0;
    const char* const end = version.data() + version.size();
    if (std::from_chars(version.data() + at + 1, end, release).ec == std::errc()) return release;
  }
  return std::nullopt;
}

}  // namespace ringscope
