#include "core/session/trace_processor_stats.h"

#include <algorithm>
#include <vector>

namespace ringscope {

StatRows TraceProcessorStats(const ReplayOutcome& outcome) {
  std::vector<const BufferOutcome*> by_index;
  for (const BufferOutcome& buffer : outcome.buffers) by_index.push_back(&buffer);
  std::ranges::stable_sort(by_index, {}, &BufferOutcome::index);
  StatRows rows;
  for (const BufferOutcome* buffer : by_index) {
    AddBufferRows(rows, buffer->index, buffer->stats);
    AddLossRows(rows, buffer->index, buffer->losses,
                buffer->losses.incremental_sequences_dropped);
    if (!buffer->into_file) continue;
    AddFileRow(rows, buffer->index, buffer->stats);
    if (buffer->policy == FillPolicy::kDiscard) AddDiscardRow(rows, buffer->index, 1);
  }
  const uint64_t flush = outcome.service.final_flush_outcome;
  constexpr uint64_t kSucceeded = 1, kFailed = 2;
  AddServiceRows(rows, outcome.service, flush == kSucceeded ? 1 : 0, flush == kFailed ? 1 : 0);
  AddFtraceRows(rows, outcome.ftrace);
  return rows;
}

}  // namespace ringscope
