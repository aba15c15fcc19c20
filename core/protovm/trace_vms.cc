#include "core/protovm/trace_vms.h"

#include <algorithm>

#include "core/perfetto/fields.h"

namespace ringscope::protovm {

TracedProgram ReadTracedProgram(Bytes instance) {
  using Field = proto::ProtoVmInstance;
  TracedProgram read;
  wire::FieldReader fields(instance);
  while (const auto field = fields.Next()) {
    const bool is_bytes = field->type == wire::Type::kBytes;
    if (field->number == Field::kProgram && is_bytes) read.program = field->bytes;
    if (field->number == Field::kState && is_bytes) read.state = field->bytes;
    if (field->number == Field::kMemoryLimitKb && !is_bytes)
      read.memory_limit_kb = static_cast<uint32_t>(field->value);
    if (field->number == Field::kProducerId && !is_bytes)
      read.producers.push_back(static_cast<int32_t>(field->value));
  }
  return read;
}

void ListedSequences::Add(Bytes message) {
  wire::FieldReader buffers(message);
  while (const auto buffer = buffers.Next()) {
    if (buffer->number != proto::TraceProvenance::kBuffers) continue;
    wire::FieldReader listed(buffer->bytes);
    while (const auto entry = listed.Next()) {
      if (entry->number != proto::ProvenanceBuffer::kSequences) continue;
      uint32_t id = 0;
      int32_t producer = 0;
      wire::FieldReader values(entry->bytes);
      while (const auto value = values.Next()) {
        if (value->number == proto::ProvenanceSequence::kId)
          id = static_cast<uint32_t>(value->value);
        if (value->number == proto::ProvenanceSequence::kProducerId)
          producer = static_cast<int32_t>(value->value);
      }
      if (count_ == kMaxSequences ||
          (of_producer_.size() == kMaxProducers && !of_producer_.contains(producer)))
        return;
      std::vector<uint32_t>& sequences = of_producer_[producer];
      // Each pass lists them all again, in ascending order.
      const auto at = std::ranges::lower_bound(sequences, id);
      if (at != sequences.end() && *at == id) continue;
      sequences.insert(at, id);
      ++count_;
    }
  }
}

void TraceVms::AddProtoVms(Bytes message) {
  wire::FieldReader instances(message);
  while (const auto instance = instances.Next()) {
    if (instance->number != proto::ProtoVms::kInstance || instance->type != wire::Type::kBytes)
      continue;
    TracedProgram about = ReadTracedProgram(instance->bytes);
    for (const int32_t producer : about.producers)
      if (sequences_.Of(producer) == nullptr) ++facts_.registration_errors;
    const uint64_t limit = LimitBytes(about.memory_limit_kb);
    // A state is as it was written, even beyond its limit; a program takes memory, too.
    const uint64_t needed = std::max<uint64_t>(limit, about.state.size()) + about.program.size();
    if (vms_.size() == kMaxVms || needed > kMaxMemory - memory_) {
      ++facts_.not_run;
      continue;
    }
    memory_ += needed;
    const auto index = static_cast<uint32_t>(vms_.size());
    Vm& added = vms_.emplace_back();
    added.vm = std::make_unique<CountedVm>(kProtoVmReleases.back().rules, about.program, limit,
                                           about.state);
    added.program_bytes = about.program.size();
    for (const int32_t producer : about.producers) {
      const std::vector<uint32_t>* const listed = sequences_.Of(producer);
      if (listed == nullptr) continue;
      for (const uint32_t sequence : *listed) {
        std::vector<uint32_t>& vms = of_sequence_[sequence];
        if (vms.empty() || vms.back() != index) vms.push_back(index);
      }
    }
    about.program = about.state = {};
    added.about = std::move(about);
  }
}

std::optional<std::string> TraceVms::Run(uint32_t sequence, Bytes packet, const LogMoment& now) {
  for (const uint32_t index : of_sequence_.at(sequence)) {
    CountedVm& vm = *vms_[index].vm;
    const RunOutcome outcome = vm.RunCounted(packet, now);
    steps_ += vm.steps();
    if (outcome.result == RunResult::kAbort) ++facts_.aborts;
    std::optional<std::string> state;
    if (outcome.result == RunResult::kOk) {
      state = vm.SerializeState();
      steps_ += state->size() / 8;
    }
    facts_.gave_up |= steps_ > kMaxSteps;
    if (state || facts_.gave_up) return state;
  }
  return std::nullopt;
}

TraceVmFacts TraceVms::Finish() {
  for (const Vm& vm : vms_) {
    VmAccount& account = facts_.vms.emplace_back(vm.vm->Account());
    account.memory_limit_kb = vm.about.memory_limit_kb;
    account.program_bytes = vm.program_bytes;
    for (const int32_t producer : vm.about.producers)
      account.producers.push_back(ProducerId{static_cast<uint16_t>(producer)});
  }
  return std::move(facts_);
}

}  // namespace ringscope::protovm
