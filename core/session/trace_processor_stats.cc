#include "core/session/trace_processor_stats.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/perfetto/data_loss.h"
#include "core/perfetto/stats.h"

namespace ringscope {
namespace {

struct Meaning {
  std::string_view name;  // after "traced_"
  const char* text;
};

constexpr std::array<Meaning, 14> kMeanings = {{
    {"buf_patches_failed",
     "patches that were refused, or whose chunk was overwritten: packets that stay incomplete"},
    {"buf_abi_violations", "chunks or fragments that break the shared-memory protocol"},
    {"buf_trace_writer_packet_loss", "packets that a writer itself dropped"},
    {"buf_sequence_packet_loss", "packets before which something of their sequence is missing"},
    {"buf_incremental_sequences_dropped",
     "sequences with no usable packet among those that need incremental state"},
    {"buf_data_loss_read_gap",
     "...because chunks between two reads were never committed, or overwritten"},
    {"buf_data_loss_chunk_corrupted", "...because the rest of a chunk could not be parsed"},
    {"buf_data_loss_orphan_continuation",
     "...because the end of a packet was found without its beginning"},
    {"buf_data_loss_reassembly_gap", "...because a chunk was missing inside a packet"},
    {"buf_data_loss_reassembly_broken_chain",
     "...because the next chunk did not continue the packet"},
    {"buf_data_loss_overwrite", "...because it was overwritten before it was read"},
    {"buf_data_loss_writer_abort", "...because the writer aborted it"},
    {"buf_data_loss_smb_full", "...because the producer's shared memory was full"},
    {"flushes_failed", "flushes that a producer did not acknowledge in time"},
}};

StatRow MakeRow(std::string_view name, std::optional<uint32_t> index, bool is_data_loss,
                uint64_t value) {
  StatRow row{"traced_" + std::string(name), index, is_data_loss, value, ""};
  const auto meaning = std::find_if(kMeanings.begin(), kMeanings.end(),
                                    [&](const Meaning& entry) { return entry.name == name; });
  if (meaning != kMeanings.end()) row.meaning = meaning->text;
  return row;
}

void AddBufferRows(const BufferOutcome& buffer, std::vector<StatRow>& rows) {
  const auto add = [&](const std::string& name, bool is_data_loss, uint64_t value) {
    rows.push_back(MakeRow("buf_" + name, buffer.index, is_data_loss, value));
  };
  for (const StatField& field : kStatFields)
    add(field.name, field.is_data_loss, buffer.stats.*field.value);
  add("sequence_packet_loss", true, buffer.losses.sequence_packet_loss);
  add("incremental_sequences_dropped", true, buffer.losses.incremental_sequences_dropped);
  for (size_t bit = 0; bit < kLossBitNames.size(); ++bit)
    add(std::string("data_loss_") + kLossBitNames[bit].name, true, buffer.losses.by_bit[bit]);
}

}  // namespace

std::vector<StatRow> TraceProcessorStats(const ReplayOutcome& outcome) {
  std::vector<const BufferOutcome*> by_index;
  for (const BufferOutcome& buffer : outcome.buffers) by_index.push_back(&buffer);
  std::stable_sort(by_index.begin(), by_index.end(),
                   [](const auto* a, const auto* b) { return a->index < b->index; });
  std::vector<StatRow> rows;
  for (const BufferOutcome* buffer : by_index) AddBufferRows(*buffer, rows);

  for (const ServiceField& field : kServiceFields)
    if (field.proto_field != 0)
      rows.push_back(
          MakeRow(field.name, std::nullopt, field.is_data_loss, outcome.service.*field.value));
  return rows;
}

}  // namespace ringscope
