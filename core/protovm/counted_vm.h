#ifndef RINGSCOPE_CORE_PROTOVM_COUNTED_VM_H_
#define RINGSCOPE_CORE_PROTOVM_COUNTED_VM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/log_moment.h"
#include "core/protovm/proto_vm.h"

namespace ringscope::protovm {

/// Runs of a program that ended at the same instruction, in the same way.
struct VmFailure {
  RunResult result = RunResult::kError;
  Reason reason = Reason::kNone;
  std::string place;  // of the instruction, "instructions[2].nested_instructions[0]"
  PacketCount count;
  LogMoment first;
};

/// What became of the packets that a VM was asked to take, as plain values.
struct VmAccount {
  std::string data_source;
  std::vector<ProducerId> producers;
  uint32_t memory_limit_kb = 0;
  uint64_t limit = 0;        // bytes
  uint64_t memory = 0;       // bytes counted against it now
  uint64_t peak_memory = 0;  // and at most, after a run
  uint64_t program_bytes = 0;
  uint64_t state_bytes = 0;  // of the state as it is written
  PacketCount folded;        // taken
  PacketCount in_trace;      // of these, in the state that a read wrote
  uint64_t errors = 0;       // runs
  uint64_t aborted = 0;      // runs, those that end the VM included
  /// What the memory limit dropped: packets whose run it aborted, and elements that a merge left
  /// out without an error.
  PacketCount at_limit;
  uint64_t dropped_elements = 0;
  std::optional<LogMoment> limit_reached;  // first
  std::vector<VmFailure> failures;         // in order of the first
  RunResult stopped = RunResult::kOk;      // else: it does not run any more
  bool by_engine = false;                  // the engine runs it: what it folded is not known
  bool left = false;  // with all that the buffer held: a clone took it, or it was cleared for one
};

/// A VM that counts what becomes of its packets.
class CountedVm : public ProtoVm {
 public:
  /// Failures that are kept one by one.
  static constexpr size_t kMaxFailures = 64;

  using ProtoVm::ProtoVm;

  RunOutcome RunCounted(Bytes packet, const LogMoment& now);
  /// The state of now goes into a trace.
  void NoteWritten() { account_.in_trace = account_.folded; }
  const PacketCount& folded() const { return account_.folded; }
  /// Without what is not the VM's own: data source, producers, the program's size.
  VmAccount Account() const;

 private:
  void CountFailure(const RunOutcome& outcome, uint64_t bytes, const LogMoment& now);

  VmAccount account_;
  std::vector<uint32_t> failed_at_;  // instructions of the account's failures
};

}  // namespace ringscope::protovm

#endif  // RINGSCOPE_CORE_PROTOVM_COUNTED_VM_H_
