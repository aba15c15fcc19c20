#ifndef RINGSCOPE_CORE_PROTOVM_COUNTED_VM_H_
#define RINGSCOPE_CORE_PROTOVM_COUNTED_VM_H_

#include <vector>

#include "core/protovm/proto_vm.h"
#include "core/protovm/vm_account.h"

namespace ringscope::protovm {

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
