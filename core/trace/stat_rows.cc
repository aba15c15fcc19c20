#include "core/trace/stat_rows.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace ringscope {
namespace {

struct Meaning {
  std::string_view name;
  const char* text;
};

constexpr std::array<Meaning, 19> kMeanings = {{
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

constexpr StatSeverity LossIf(bool is_data_loss) {
  return is_data_loss ? StatSeverity::kDataLoss : StatSeverity::kInfo;
}

struct FtraceName {
  FtraceCounter counter;
  const char* name;
  StatSeverity delta = StatSeverity::kInfo;
  bool has_delta = true;
};
constexpr std::array<FtraceName, kFtraceCounters> kFtraceNames = {{
    {FtraceCounter::kEntries, "entries"},
    {FtraceCounter::kOverrun, "overrun"},
    {FtraceCounter::kCommitOverrun, "commit_overrun", StatSeverity::kError},
    {FtraceCounter::kBytes, "bytes"},
    {FtraceCounter::kDroppedEvents, "dropped_events", StatSeverity::kError},
    {FtraceCounter::kReadEvents, "read_events"},
    {FtraceCounter::kNowTs, "now_ts", StatSeverity::kInfo, false},
    {FtraceCounter::kOldestEventTs, "oldest_event_ts", StatSeverity::kInfo, false},
}};

void AddPhaseRows(const std::string& name, std::optional<uint32_t> cpu, const FtracePhases& phases,
                  std::optional<StatSeverity> delta, StatRows& rows) {
  const auto add = [&](const char* suffix, StatSeverity severity, std::optional<uint64_t> value) {
    if (value) AddRow(rows, name + suffix, cpu, severity, *value);
  };
  add("_begin", StatSeverity::kInfo, phases.begin);
  add("_end", StatSeverity::kInfo, phases.end);
  if (delta) add("_delta", *delta, phases.delta());
}

}  // namespace

void AddRow(StatRows& rows, std::string name, std::optional<uint32_t> index, StatSeverity severity,
            uint64_t value) {
  StatRow& row = rows.emplace_back(StatRow{std::move(name), index, severity, value});
  const auto meaning =
      std::ranges::find_if(kMeanings, [&](const Meaning& entry) { return entry.name == row.name; });
  if (meaning != kMeanings.end()) row.meaning = meaning->text;
}

void AddBufferRows(StatRows& rows, uint32_t index, const BufferStats& stats) {
  for (const StatField& field : kStatFields)
    AddRow(rows, std::string("traced_buf_") + field.name, index, LossIf(field.is_data_loss),
           stats.*field.value);
}

void AddLossRows(StatRows& rows, uint32_t index, const LossCounts& losses,
                 uint64_t dropped_sequences) {
  const auto add = [&](const std::string& name, uint64_t value) {
    AddRow(rows, "traced_buf_" + name, index, StatSeverity::kDataLoss, value);
  };
  add("sequence_packet_loss", losses.sequence_packet_loss);
  add("incremental_sequences_dropped", dropped_sequences);
  for (size_t bit = 0; bit < kLossBitNames.size(); ++bit)
    add(std::string("data_loss_") + kLossBitNames[bit].name, losses.by_bit[bit]);
}

void AddFileRow(StatRows& rows, uint32_t index, const BufferStats& stats) {
  AddRow(rows, "long_trace_mode_bytes_overwritten", index, StatSeverity::kDataLoss,
         stats.bytes_overwritten);
}

void AddDiscardRow(StatRows& rows, uint32_t index, uint64_t configs) {
  AddRow(rows, "config_write_into_file_discard", index, StatSeverity::kDataLoss, configs);
}

void AddServiceRows(StatRows& rows, const ServiceStats& service, uint64_t final_flushes_succeeded,
                    uint64_t final_flushes_failed) {
  for (const ServiceField& field : kServiceFields) {
    if (field.value == &ServiceStats::final_flush_outcome) {
      AddRow(rows, "traced_final_flush_succeeded", {}, StatSeverity::kInfo,
             final_flushes_succeeded);
      AddRow(rows, "traced_final_flush_failed", {}, StatSeverity::kDataLoss, final_flushes_failed);
    } else if (field.proto_field != 0) {
      AddRow(rows, std::string("traced_") + field.name, {}, LossIf(field.is_data_loss),
             service.*field.value);
    }
  }
}

void AddFtraceRows(StatRows& rows, const FtraceCounters& ftrace) {
  for (const auto& [number, cpu] : ftrace.cpus()) {
    const auto index = static_cast<uint32_t>(number);
    for (const FtraceName& entry : kFtraceNames) {
      AddPhaseRows(std::string("ftrace_cpu_") + entry.name, index,
                   cpu.counters[static_cast<size_t>(entry.counter)],
                   entry.has_delta ? std::optional(entry.delta) : std::nullopt, rows);
    }
    if (cpu.has_data_loss())
      AddRow(rows, "ftrace_cpu_has_data_loss", index, StatSeverity::kDataLoss, 1);
  }
  AddPhaseRows("ftrace_kprobe_hits", {}, ftrace.kprobe_hits(), StatSeverity::kInfo, rows);
  AddPhaseRows("ftrace_kprobe_misses", {}, ftrace.kprobe_misses(), StatSeverity::kDataLoss, rows);
}

}  // namespace ringscope
