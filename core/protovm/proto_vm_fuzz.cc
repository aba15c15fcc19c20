// Any program on any packets and any initial state, by the rules of all releases: nothing crashes,
// what is counted stays within the limit, the state can be written and read back, and releases
// with the same rules agree.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "core/protovm/proto_vm.h"

namespace ringscope::protovm {
namespace {

void Must(bool holds) {
  if (!holds) std::abort();
}

/// Takes a part from the front of the input, by a length of two bytes.
Bytes TakePart(Bytes& input) {
  if (input.size() < 2) return {};
  const size_t size = std::min<size_t>(input[0] | input[1] << 8, input.size() - 2);
  const Bytes part = input.subspan(2, size);
  input = input.subspan(2 + size);
  return part;
}

void RunAll(const ProtoVmRules& rules, uint64_t limit, Bytes input) {
  const Bytes program = TakePart(input);
  const Bytes initial = TakePart(input);
  ProtoVm vm(rules, program, limit, initial);
  while (!input.empty()) {
    const RunOutcome outcome = vm.Run(TakePart(input));
    Must((outcome.result == RunResult::kOk) == (outcome.reason == Reason::kNone));
    Must(outcome.result == RunResult::kOk || outcome.instruction < vm.program().all().size());
    if (outcome.result != RunResult::kOk) vm.program().PlaceOf(outcome.instruction);
    Must(vm.state().counted() <= limit);
    const std::string state = vm.SerializeState();
    ProtoVm copy(rules, {}, UINT64_MAX, wire::AsBytes(state));
    Must(copy.SerializeState() == state);
    if (input.size() < 2) break;
  }
}

}  // namespace
}  // namespace ringscope::protovm

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ringscope::protovm;
  if (size < 2) return 0;
  const uint64_t limit = uint64_t{data[0]} << (data[1] % 12);
  const ringscope::Bytes input(data + 2, size - 2);
  for (const ProtoVmRelease& known : kProtoVmReleases) RunAll(known.rules, limit, input);
  return 0;
}
