#include "core/session/replay_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/protovm/protovm_rules.h"
#include "core/trace/trace_facts.h"

namespace ringscope {
namespace {

/// Puts the counting listener in front of the others.
std::vector<ReplayListener*> After(ReplayListener& first, std::vector<ReplayListener*> others) {
  others.insert(others.begin(), &first);
  return others;
}

}  // namespace

void LossAnalysis::AddPacket(const SessionPacket& session_packet, const PacketFacts& facts) {
  const Packet& packet = *session_packet.packet;
  // The service's field follows the producer's own and so replaces it.
  const uint32_t dropped = packet.dropped != 0 ? packet.dropped : facts.dropped;
  SequenceState& state = sequences_[packet.sequence];
  BufferLosses& losses = losses_[session_packet.buffer];
  if (dropped != 0 && state.buffer) losses.Add(dropped);
  if (!state.buffer) state.buffer = session_packet.buffer;
  state.incremental.Add(facts.clears_state, dropped != 0);
  state.needed_state |= facts.needs_state;
  state.used_state |= facts.needs_state && state.incremental.valid();
}

std::map<BufferId, BufferLosses> LossAnalysis::Result() const {
  std::map<BufferId, BufferLosses> result = losses_;
  for (size_t n = 0; n < sequences_.size(); ++n) {
    const SequenceState& state = sequences_.At(n).value;
    if (state.needed_state && !state.used_state)
      ++result[*state.buffer].incremental_sequences_dropped;
  }
  return result;
}

CountedReplay::CountedReplay(ReplayOptions options, std::vector<ReplayListener*> listeners)
    : replay_(std::move(options), After(counter_, std::move(listeners))) {}

Status CountedReplay::Counter::OnPacket(const SessionPacket& packet) {
  Counts& of_buffer = counts[packet.buffer];
  of_buffer.read += {1, packet.packet->size};
  if (!packet.valid) {
    ++of_buffer.invalid;
    return {};
  }
  const Bytes bytes = Joined(packet.packet->slices, scratch);
  const PacketFacts facts = ReadPacketFacts(bytes);
  losses.AddPacket(packet, facts);
  ftrace.AddPacket(facts.content, bytes);
  return {};
}

Status CountedReplay::Apply(const Op& op, std::optional<uint64_t> number) {
  if (std::holds_alternative<Commit>(op.body)) return replay_.Apply(op, number);
  if (std::holds_alternative<RecorderGap>(op.body)) recorder_gaps_ += IsDamage(op.body) ? 0 : 1;
  clones_.Add(op);
  verdicts_.Add(op.body);
  return replay_.Apply(op, number);
}

Result<ReplayOutcome> CountedReplay::Finish() {
  RS_RETURN_IF_ERROR(replay_.Finish());
  ReplayOutcome outcome;
  outcome.records = replay_.records();
  outcome.read_passes = replay_.reads().passes();
  outcome.reads = replay_.reads().used();
  outcome.recorder_gaps = recorder_gaps_;
  outcome.verdicts = verdicts_.Verdicts();
  outcome.first_time_ns = replay_.first_time_ns();
  outcome.last_time_ns = replay_.last_time_ns();
  outcome.read_until_ns = counter_.read_until_ns;
  outcome.service = replay_.session().stats();
  if (const CloneFacts* view = replay_.session().clone()) outcome.clone = view->clone;
  outcome.clones = clones_.clones();
  outcome.ftrace = counter_.ftrace;
  std::map<BufferId, BufferLosses> losses = counter_.losses.Result();
  const std::map<BufferId, SessionBuffer>& buffers = replay_.session().buffers();
  for (const auto& [id, buffer] : buffers) {
    const Counts& counts = counter_.counts[id];
    BufferOutcome& result = outcome.buffers.emplace_back(OutcomeOf(buffer));
    result.into_file = replay_.reads().service().WritesFile(buffer.session);
    result.read = counts.read;
    const uint64_t most = replay_.reads().service().MaxFileBytes(buffer.session);
    if (most != 0 && !outcome.clone && result.read.bytes >= most)
      outcome.reads.exceeded_file_bytes = most;
    result.invalid = counts.invalid;
    result.losses = losses[id];
  }
  RS_RETURN_IF_ERROR(replay_.Drain());
  for (BufferOutcome& result : outcome.buffers) {
    const Counts& counts = counter_.counts[result.id];
    result.unread = counts.unread;
    result.stuck_bytes = counts.stuck_bytes + buffers.at(result.id).engine->stats().unread_bytes();
  }
  return outcome;
}

BufferOutcome OutcomeOf(const SessionBuffer& buffer) {
  BufferOutcome outcome{.id = buffer.id,
                        .index = buffer.index,
                        .engine = buffer.info->name,
                        .size = buffer.requested_size,
                        .policy = buffer.policy,
                        .freed = buffer.freed,
                        .stats = buffer.stats(),
                        .vms = buffer.former_vms};
  if (buffer.vms != nullptr) {
    std::ranges::move(buffer.vms->Accounts(), std::back_inserter(outcome.vms));
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
    const TraceBuffer counted = {.stats = buffer->stats,
                                 .has_stats = true,
                                 .has_losses = true,
                                 .losses = buffer->losses,
                                 .dropped_sequences = buffer->losses.incremental_sequences_dropped};
    AddBufferRows(rows, buffer->index, counted, buffer->into_file);
    if (buffer->into_file && buffer->policy == FillPolicy::kDiscard)
      AddDiscardRow(rows, buffer->index, 1);
  }
  const uint64_t flush = outcome.service.final_flush_outcome;
  constexpr uint64_t kSucceeded = 1, kFailed = 2;
  AddServiceRows(rows, outcome.service, flush == kSucceeded ? 1 : 0, flush == kFailed ? 1 : 0);
  AddFtraceRows(rows, outcome.ftrace);
  return rows;
}

std::string ReplayOutcome::NameOf(BufferId id) const {
  const BufferOutcome* const buffer = Find(id);
  return buffer == nullptr ? fmt::format("buffer {}", Raw(id))
                           : fmt::format("buffers[{}]", buffer->index);
}

}  // namespace ringscope
