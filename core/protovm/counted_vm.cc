#include "core/protovm/counted_vm.h"

#include <algorithm>

namespace ringscope::protovm {

RunOutcome CountedVm::RunCounted(Bytes packet, const LogMoment& now) {
  const uint64_t dropped = dropped_elements();
  const RunOutcome outcome = Run(packet);
  account_.peak_memory = std::max(account_.peak_memory, state().counted());
  if (dropped_elements() != dropped && !account_.limit_reached) account_.limit_reached = now;
  if (outcome.result == RunResult::kOk)
    account_.folded += {1, packet.size()};
  else
    CountFailure(outcome, packet.size(), now);
  return outcome;
}

void CountedVm::CountFailure(const RunOutcome& outcome, uint64_t bytes, const LogMoment& now) {
  ++(outcome.result == RunResult::kError ? account_.errors : account_.aborted);
  if (outcome.reason == Reason::kMemoryLimit) {
    account_.at_limit += {1, bytes};
    if (!account_.limit_reached) account_.limit_reached = now;
  }
  for (size_t i = 0; i < account_.failures.size(); ++i) {
    VmFailure& known = account_.failures[i];
    if (failed_at_[i] != outcome.instruction || known.reason != outcome.reason ||
        known.result != outcome.result)
      continue;
    known.count += {1, bytes};
    return;
  }
  if (account_.failures.size() == kMaxFailures) return;
  account_.failures.push_back({.result = outcome.result,
                               .reason = outcome.reason,
                               .place = {},
                               .count = {1, bytes},
                               .first = now});
  failed_at_.push_back(outcome.instruction);
}

VmAccount CountedVm::Account() const {
  VmAccount account = account_;
  account.limit = state().limit();
  account.memory = state().counted();
  account.state_bytes = SerializeState().size();
  account.dropped_elements = dropped_elements();
  account.stopped = stopped().result;
  for (size_t i = 0; i < account.failures.size(); ++i)
    account.failures[i].place = program().PlaceOf(failed_at_[i]);
  return account;
}

}  // namespace ringscope::protovm
