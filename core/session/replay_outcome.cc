#include "core/session/replay_outcome.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/protovm/protovm_rules.h"

namespace ringscope {

BufferOutcome OutcomeOf(const SessionBuffer& buffer) {
  BufferOutcome outcome;
  outcome.id = buffer.id;
  outcome.index = buffer.index;
  outcome.engine = buffer.info->name;
  outcome.size = buffer.requested_size;
  outcome.policy = buffer.policy;
  outcome.freed = buffer.freed;
  outcome.stats = buffer.stats();
  outcome.vms = buffer.former_vms;
  if (buffer.vms != nullptr) {
    for (protovm::VmAccount& account : buffer.vms->Accounts())
      outcome.vms.push_back(std::move(account));
    return outcome;
  }
  buffer.VisitPrograms([&](const ProgramState& program) {
    protovm::VmAccount& account = outcome.vms.emplace_back();
    account.data_source = program.data_source;
    account.producers.assign(program.producers.begin(), program.producers.end());
    account.memory_limit_kb = program.memory_limit_kb;
    account.limit = protovm::LimitBytes(program.memory_limit_kb);
    account.memory = program.memory;
    account.program_bytes = program.program.size();
    account.state_bytes = program.state.size();
    account.by_engine = true;
  });
  return outcome;
}

VmRuns BufferOutcome::programs() const {
  VmRuns runs;
  for (const protovm::VmAccount& vm : vms) {
    runs.folded += vm.folded.packets;
    runs.in_trace += vm.in_trace.packets;
    runs.errors += vm.errors;
    runs.aborted += vm.aborted;
    runs.at_limit += vm.at_limit.packets;
  }
  return runs;
}

StatRows TraceProcessorStats(const ReplayOutcome& outcome) {
  std::vector<const BufferOutcome*> by_index;
  for (const BufferOutcome& buffer : outcome.buffers) by_index.push_back(&buffer);
  std::ranges::stable_sort(by_index, {}, &BufferOutcome::index);
  StatRows rows;
  for (const BufferOutcome* buffer : by_index) {
    AddBufferRows(rows, buffer->index, buffer->stats);
    AddLossRows(rows, buffer->index, buffer->losses, buffer->losses.incremental_sequences_dropped);
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
