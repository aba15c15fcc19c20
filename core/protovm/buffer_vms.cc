#include "core/protovm/buffer_vms.h"

#include <algorithm>
#include <optional>

#include "core/perfetto/fields.h"
#include "core/perfetto/packet_facts.h"

namespace ringscope::protovm {

VmSetUp VmSetUpOf(Bytes program, Bytes config) {
  std::optional<Bytes> protovm;
  VmFields fields(config);
  for (VmField field; fields.Next(field);) {
    if (field.number == proto::DataSourceConfig::kProtovmConfig && !field.is_scalar())
      protovm = field.bytes;
  }
  using Kind = VmSetUp::Kind;
  if (!protovm) return {program.empty() ? Kind::kNone : Kind::kNoConfig};
  if (program.empty()) return {Kind::kNoProgram};
  VmSetUp found{Kind::kNoLimit};
  VmFields limits(*protovm);
  for (VmField field; limits.Next(field);) {
    if (field.number == proto::ProtoVmConfig::kMemoryLimitKb && field.is_scalar())
      found = {Kind::kComplete, static_cast<uint32_t>(field.value)};
  }
  return found;
}

bool BufferVms::SetUp(std::string_view data_source, Bytes program, uint32_t memory_limit_kb,
                      ProducerId producer, Bytes state) {
  auto instance = std::find_if(instances_.begin(), instances_.end(), [&](const Instance& one) {
    return one.data_source == data_source && one.program == wire::AsText(program);
  });
  if (instance == instances_.end()) {
    program_bytes_ += program.size();
    if (instances_.size() == kMaxVms || program_bytes_ > kMaxProgramBytes) return false;
    Instance& added = instances_.emplace_back();
    added.data_source = data_source;
    added.program = wire::AsText(program);
    added.memory_limit_kb = memory_limit_kb;
    added.vm = std::make_unique<CountedVm>(rules_, program, LimitBytes(memory_limit_kb), state);
    instance = instances_.end() - 1;
  }
  std::vector<ProducerId>& producers = instance->producers;
  const auto at = std::lower_bound(producers.begin(), producers.end(), producer);
  if (at == producers.end() || *at != producer) producers.insert(at, producer);
  return true;
}

const BufferVms::Instance* BufferVms::Feed(const Packet& packet, const LogMoment& now) {
  std::optional<Bytes> bytes;
  for (Instance& instance : instances_) {
    if (!std::binary_search(instance.producers.begin(), instance.producers.end(),
                            packet.sequence.producer))
      continue;
    if (!bytes) bytes = Joined(packet.slices, joined_);
    if (instance.vm->RunCounted(*bytes, now).result == RunResult::kOk) return &instance;
  }
  return nullptr;
}

std::vector<VmAccount> BufferVms::Accounts() const {
  std::vector<VmAccount> accounts;
  accounts.reserve(instances_.size());
  for (const Instance& instance : instances_) {
    VmAccount& account = accounts.emplace_back(instance.vm->Account());
    account.data_source = instance.data_source;
    account.producers = instance.producers;
    account.memory_limit_kb = instance.memory_limit_kb;
    account.program_bytes = instance.program.size();
  }
  return accounts;
}

void BufferVms::Visit(const ProgramVisitor& visit) const {
  for (const Instance& instance : instances_) {
    const std::string state = instance.vm->SerializeState();
    visit({.data_source = instance.data_source,
           .program = wire::AsBytes(instance.program),
           .memory_limit_kb = instance.memory_limit_kb,
           .producers = instance.producers,
           .state = wire::AsBytes(state),
           .memory = instance.vm->state().counted()});
  }
}

void BufferVms::NoteWritten() {
  for (Instance& instance : instances_) instance.vm->NoteWritten();
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
