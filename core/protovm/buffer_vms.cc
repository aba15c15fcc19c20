#include "core/protovm/buffer_vms.h"

#include <algorithm>

#include "core/perfetto/fields.h"
#include "core/perfetto/packet_facts.h"

namespace ringscope::protovm {

VmSetUp VmSetUpOf(Bytes program, Bytes config) {
  using Kind = VmSetUp::Kind;
  std::optional<VmSetUp> found;
  VmFields fields(config);
  for (VmField field; fields.Next(field);) {
    if (field.number != proto::DataSourceConfig::kProtovmConfig || field.is_scalar()) continue;
    found = VmSetUp{Kind::kNoLimit};
    VmFields limits(field.bytes);
    for (VmField limit; limits.Next(limit);)
      if (limit.number == proto::ProtoVmConfig::kMemoryLimitKb && limit.is_scalar())
        found = VmSetUp{Kind::kComplete, static_cast<uint32_t>(limit.value)};
  }
  if (!found) return {program.empty() ? Kind::kNone : Kind::kNoConfig};
  return program.empty() ? VmSetUp{Kind::kNoProgram} : *found;
}

bool BufferVms::SetUp(std::string_view data_source, Bytes program, uint32_t memory_limit_kb,
                      ProducerId producer, Bytes state) {
  auto instance = std::ranges::find_if(instances_, [&](const Instance& one) {
    return one.account.data_source == data_source && one.program == wire::AsText(program);
  });
  if (instance == instances_.end()) {
    program_bytes_ += program.size();
    if (instances_.size() == kMaxVms || program_bytes_ > kMaxProgramBytes) return false;
    Instance& added = instances_.emplace_back();
    added.program = wire::AsText(program);
    added.account.data_source = data_source;
    added.account.memory_limit_kb = memory_limit_kb;
    added.account.program_bytes = program.size();
    added.vm = std::make_unique<ProtoVm>(rules_, program, LimitBytes(memory_limit_kb), state);
    instance = instances_.end() - 1;
  }
  std::vector<ProducerId>& producers = instance->account.producers;
  const auto at = std::lower_bound(producers.begin(), producers.end(), producer);
  if (at == producers.end() || *at != producer) producers.insert(at, producer);
  return true;
}

bool BufferVms::Feed(const Packet& packet, const LogMoment& now) {
  std::optional<Bytes> bytes;
  for (Instance& instance : instances_) {
    if (!std::ranges::binary_search(instance.account.producers, packet.sequence.producer)) continue;
    if (!bytes) bytes = Joined(packet.slices, joined_);
    if (Run(instance, *bytes, now)) return true;
  }
  return false;
}

/// Runs an instance's program on a packet, and counts what that leads to.
/// @return whether it has taken the packet
bool BufferVms::Run(Instance& instance, Bytes packet, const LogMoment& now) {
  VmAccount& account = instance.account;
  const RunOutcome outcome = instance.vm->Run(packet);
  const PacketCount count{1, packet.size()};
  const bool drops = account.dropped_elements != instance.vm->dropped_elements();
  account.dropped_elements = instance.vm->dropped_elements();
  account.peak_memory = std::max(account.peak_memory, instance.vm->state().counted());
  if ((drops || outcome.reason == Reason::kMemoryLimit) && !account.limit_reached)
    account.limit_reached = now;
  if (outcome.result == RunResult::kOk) {
    account.folded += count;
    return true;
  }
  ++(outcome.result == RunResult::kError ? account.errors : account.aborted);
  if (outcome.reason == Reason::kMemoryLimit) account.at_limit += count;
  const auto known = std::ranges::find_if(
      account.failures, [&](const RunOutcome& failure) { return failure == outcome; });
  if (known != account.failures.end())
    known->count += count;
  else if (account.failures.size() < kMaxFailures)
    account.failures.push_back(
        {outcome, instance.vm->program().PlaceOf(outcome.instruction), count, now});
  return false;
}

std::vector<VmAccount> BufferVms::Accounts() const {
  std::vector<VmAccount> accounts;
  for (const Instance& instance : instances_) {
    VmAccount& account = accounts.emplace_back(instance.account);
    account.limit = instance.vm->state().limit();
    account.memory = instance.vm->state().counted();
    account.state_bytes = instance.vm->SerializeState().size();
    account.stopped = instance.vm->stopped().result;
  }
  return accounts;
}

void BufferVms::Visit(const ProgramVisitor& visit) const {
  for (const Instance& instance : instances_) {
    const std::string state = instance.vm->SerializeState();
    visit({.data_source = instance.account.data_source,
           .program = wire::AsBytes(instance.program),
           .memory_limit_kb = instance.account.memory_limit_kb,
           .producers = instance.account.producers,
           .state = wire::AsBytes(state),
           .memory = instance.vm->state().counted()});
  }
}

void AppendInstance(const ProgramState& program, std::string& out) {
  using Field = proto::TracePacket::ProtoVms::Instance;
  std::string message;
  wire::AppendBytes(message, Field::kProgram, program.program);
  wire::AppendBytes(message, Field::kState, program.state);
  wire::AppendUint(message, Field::kMemoryLimitKb, program.memory_limit_kb);
  for (const ProducerId producer : program.producers)
    wire::AppendUint(message, Field::kProducerId, Raw(producer));
  wire::AppendBytes(out, proto::TracePacket::ProtoVms::kInstance, wire::AsBytes(message));
}

}  // namespace ringscope::protovm
