#include "core/protovm/buffer_vms.h"

#include <algorithm>
#include <optional>

#include "core/perfetto/fields.h"

namespace ringscope::protovm {

VmSetUp VmSetUpOf(Bytes program, Bytes config) {
  std::optional<Bytes> protovm;
  VmFields fields(config);
  for (VmField field; fields.Next(field);) {
    if (field.number == proto::DataSourceConfig::kProtoVmConfig && !field.is_scalar())
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

void BufferVms::SetUp(std::string_view data_source, Bytes program, uint32_t memory_limit_kb,
                      ProducerId producer) {
  auto instance = std::find_if(instances_.begin(), instances_.end(), [&](const Instance& one) {
    return one.data_source == data_source && one.program == wire::AsText(program);
  });
  if (instance == instances_.end()) {
    Instance& added = instances_.emplace_back();
    added.data_source = data_source;
    added.program = wire::AsText(program);
    added.memory_limit_kb = memory_limit_kb;
    added.vm = std::make_unique<ProtoVm>(rules_, program, LimitBytes(memory_limit_kb));
    instance = instances_.end() - 1;
  }
  std::vector<ProducerId>& producers = instance->producers;
  const auto at = std::lower_bound(producers.begin(), producers.end(), producer);
  if (at == producers.end() || *at != producer) producers.insert(at, producer);
}

const BufferVms::Instance* BufferVms::Feed(const Packet& packet) {
  bool is_joined = false;
  Bytes bytes;
  for (Instance& instance : instances_) {
    if (!std::binary_search(instance.producers.begin(), instance.producers.end(),
                            packet.sequence.producer))
      continue;
    if (!is_joined && packet.slices.size() == 1) {
      bytes = packet.slices.front();
    } else if (!is_joined) {
      joined_.clear();
      for (const Bytes slice : packet.slices) joined_ += wire::AsText(slice);
      bytes = wire::AsBytes(joined_);
    }
    is_joined = true;
    switch (instance.vm->Run(bytes).result) {
      case RunResult::kOk:
        ++instance.taken;
        return &instance;
      case RunResult::kError:
        ++instance.errors;
        break;
      default:
        ++instance.aborts;
    }
  }
  return nullptr;
}

uint64_t BufferVms::taken() const {
  uint64_t packets = 0;
  for (const Instance& instance : instances_) packets += instance.taken;
  return packets;
}

void BufferVms::AppendInstances(std::string& out) const {
  using Field = proto::ProtoVmInstance;
  for (const Instance& instance : instances_) {
    std::string message;
    wire::AppendBytes(message, Field::kProgram, wire::AsBytes(instance.program));
    wire::AppendBytes(message, Field::kState, wire::AsBytes(instance.vm->SerializeState()));
    wire::AppendUint(message, Field::kMemoryLimitKb, instance.memory_limit_kb);
    for (const ProducerId producer : instance.producers)
      wire::AppendUint(message, Field::kProducerId, Raw(producer));
    wire::AppendBytes(out, proto::ProtoVms::kInstance, wire::AsBytes(message));
  }
}

}  // namespace ringscope::protovm
