#include "core/session/trace_processor_stats.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/perfetto/data_loss.h"
#include "core/perfetto/stats.h"

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

StatRow MakeRow(std::string name, std::optional<uint32_t> index, StatSeverity severity,
                uint64_t value) {
  StatRow row{std::move(name), index, severity, value, ""};
  const auto meaning = std::find_if(kMeanings.begin(), kMeanings.end(),
                                    [&](const Meaning& entry) { return entry.name == row.name; });
  if (meaning != kMeanings.end()) row.meaning = meaning->text;
  return row;
}

constexpr StatSeverity LossIf(bool is_data_loss) {
  return is_data_loss ? StatSeverity::kDataLoss : StatSeverity::kInfo;
}

void AddBufferRows(const BufferOutcome& buffer, std::vector<StatRow>& rows) {
  const auto add = [&](const std::string& name, bool is_data_loss, uint64_t value) {
    rows.push_back(MakeRow("traced_buf_" + name, buffer.index, LossIf(is_data_loss), value));
  };
  for (const StatField& field : kStatFields)
    add(field.name, field.is_data_loss, buffer.stats.*field.value);
  add("sequence_packet_loss", true, buffer.losses.sequence_packet_loss);
  add("incremental_sequences_dropped", true, buffer.losses.incremental_sequences_dropped);
  for (size_t bit = 0; bit < kLossBitNames.size(); ++bit)
    add(std::string("data_loss_") + kLossBitNames[bit].name, true, buffer.losses.by_bit[bit]);
  if (!buffer.into_file) return;
  rows.push_back(MakeRow("long_trace_mode_bytes_overwritten", buffer.index, StatSeverity::kDataLoss,
                         buffer.stats.bytes_overwritten));
  if (buffer.policy == FillPolicy::kDiscard)
    rows.push_back(
        MakeRow("config_write_into_file_discard", buffer.index, StatSeverity::kDataLoss, 1));
}

void AddServiceRows(const ServiceStats& service, std::vector<StatRow>& rows) {
  for (const ServiceField& field : kServiceFields) {
    const uint64_t value = service.*field.value;
    if (field.value == &ServiceStats::final_flush_outcome) {
      constexpr uint64_t kSucceeded = 1, kFailed = 2;
      rows.push_back(MakeRow("traced_final_flush_succeeded", {}, StatSeverity::kInfo,
                             value == kSucceeded ? 1 : 0));
      rows.push_back(MakeRow("traced_final_flush_failed", {}, StatSeverity::kDataLoss,
                             value == kFailed ? 1 : 0));
    } else if (field.proto_field != 0) {
      rows.push_back(
          MakeRow(std::string("traced_") + field.name, {}, LossIf(field.is_data_loss), value));
    }
  }
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
                  std::optional<StatSeverity> delta, std::vector<StatRow>& rows) {
  const auto add = [&](const char* suffix, StatSeverity severity, std::optional<uint64_t> value) {
    if (value) rows.push_back(MakeRow(name + suffix, cpu, severity, *value));
  };
  add("_begin", StatSeverity::kInfo, phases.begin);
  add("_end", StatSeverity::kInfo, phases.end);
  if (delta) add("_delta", *delta, phases.delta());
}

void AddFtraceRows(const FtraceCounters& ftrace, std::vector<StatRow>& rows) {
  for (const auto& [number, cpu] : ftrace.cpus()) {
    const auto index = static_cast<uint32_t>(number);
    for (const FtraceName& entry : kFtraceNames) {
      AddPhaseRows(std::string("ftrace_cpu_") + entry.name, index,
                   cpu.counters[static_cast<size_t>(entry.counter)],
                   entry.has_delta ? std::optional(entry.delta) : std::nullopt, rows);
    }
    if (cpu.has_data_loss())
      rows.push_back(MakeRow("ftrace_cpu_has_data_loss", index, StatSeverity::kDataLoss, 1));
  }
  AddPhaseRows("ftrace_kprobe_hits", {}, ftrace.kprobe_hits(), StatSeverity::kInfo, rows);
  AddPhaseRows("ftrace_kprobe_misses", {}, ftrace.kprobe_misses(), StatSeverity::kDataLoss, rows);
}

}  // namespace

std::vector<StatRow> TraceProcessorStats(const ReplayOutcome& outcome) {
  std::vector<const BufferOutcome*> by_index;
  for (const BufferOutcome& buffer : outcome.buffers) by_index.push_back(&buffer);
  std::stable_sort(by_index.begin(), by_index.end(),
                   [](const auto* a, const auto* b) { return a->index < b->index; });
  std::vector<StatRow> rows;
  for (const BufferOutcome* buffer : by_index) AddBufferRows(*buffer, rows);

  AddServiceRows(outcome.service, rows);
  AddFtraceRows(outcome.ftrace, rows);
  return rows;
}

}  // namespace ringscope
