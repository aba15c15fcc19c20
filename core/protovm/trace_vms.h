#ifndef RINGSCOPE_CORE_PROTOVM_TRACE_VMS_H_
#define RINGSCOPE_CORE_PROTOVM_TRACE_VMS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/protovm/counted_vm.h"

namespace ringscope::protovm {

/// An instance that a trace has (ProtoVms.instance).
struct TracedProgram {
  Bytes program;
  Bytes state;
  uint32_t memory_limit_kb = 0;
  std::vector<int32_t> producers;
};
TracedProgram ReadTracedProgram(Bytes instance);

/// Which sequences the producers of a trace wrote, as the trace lists them (TraceProvenance).
/// Memory is limited.
class ListedSequences {
 public:
  static constexpr size_t kMaxProducers = 65536;
  static constexpr size_t kMaxSequences = 200'000;

  void Add(Bytes message);
  /// nullptr: the producer is not listed.
  const std::vector<uint32_t>* Of(int32_t producer) const {
    const auto found = of_producer_.find(producer);
    return found == of_producer_.end() ? nullptr : &found->second;
  }

 private:
  std::unordered_map<int32_t, std::vector<uint32_t>> of_producer_;
  size_t count_ = 0;
};

/// What the programs of a trace do in the hands of its reader.
struct TraceVmFacts {
  std::vector<VmAccount> vms;        // their packets are patches that became states
  uint64_t registration_errors = 0;  // producers of programs that the trace lists no sequence of
  uint64_t aborts = 0;               // runs
  uint64_t not_run = 0;              // programs, beyond what is kept here
  bool gave_up = false;              // the programs need more steps than are taken here
};

/// Follows the programs of a trace as trace processor does: the patches that follow a state become
/// states, each by the first program of its sequence that takes it. Any trace is safe: memory and
/// steps are limited.
/// Source: what is known of trace processor v58.
class TraceVms {
 public:
  /// Sum of the limits of all states; a program whose limit goes beyond it is not run.
  static constexpr uint64_t kMaxMemory = uint64_t{24} << 20;
  /// Of all runs together, see ProtoVm::kMaxSteps; then no program runs any more.
  static constexpr uint64_t kMaxSteps = uint64_t{1} << 32;
  static constexpr size_t kMaxVms = 1024;

  /// A TraceProvenance message: who wrote which sequences.
  void AddProvenance(Bytes message) { sequences_.Add(message); }
  /// A ProtoVms message: programs for the sequences that are listed by now.
  void AddProtoVms(Bytes message);
  /// Whether programs are to run on this sequence's packets.
  bool HasProgram(uint32_t sequence) const {
    return !of_sequence_.empty() && of_sequence_.contains(sequence) && !facts_.gave_up;
  }
  /// @param now the packet's number as the record
  /// @return the state that takes the packet's place, without trusted fields; nullopt: it stays
  std::optional<std::string> Run(uint32_t sequence, Bytes packet, const LogMoment& now);
  /// Call it last.
  TraceVmFacts Finish();

 private:
  struct Vm {
    std::unique_ptr<CountedVm> vm;
    TracedProgram about;  // without bytes
    size_t program_bytes = 0;
  };

  ListedSequences sequences_;
  std::unordered_map<uint32_t, std::vector<uint32_t>> of_sequence_;  // VMs, in order
  std::vector<Vm> vms_;
  uint64_t memory_ = 0;
  uint64_t steps_ = 0;
  TraceVmFacts facts_;
};

}  // namespace ringscope::protovm

#endif  // RINGSCOPE_CORE_PROTOVM_TRACE_VMS_H_
