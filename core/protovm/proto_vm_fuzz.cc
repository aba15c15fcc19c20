// Any program on any packets and any initial state, by the rules of all releases: nothing crashes,
// what is counted stays within the limit, the state can be written and read back, and releases
// agree wherever the program uses nothing of what changed between them.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "core/protovm/proto_vm.h"

namespace ringscope::protovm {
namespace {

void Must(bool holds) {
  if (!holds) std::abort();
}

/// Takes a part from the front of the input, by a length of two bytes.
Bytes TakePart(Bytes& input) {
  if (input.size() < 2) return {};
  const size_t size = std::min<size_t>(input[0] + size_t{input[1]} * 256, input.size() - 2);
  const Bytes part = input.subspan(2, size);
  input = input.subspan(2 + size);
  return part;
}

/// What a run led to.
struct Answer {
  RunResult result{};
  Reason reason{};
  uint32_t instruction = 0;
  std::string state;
  uint64_t counted = 0;  // bytes

  friend bool operator==(const Answer&, const Answer&) = default;
};

std::vector<Answer> RunAll(const ProtoVmRules& rules, uint64_t limit, Bytes input) {
  std::vector<Answer> answers;
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
    answers.push_back(
        {outcome.result, outcome.reason, outcome.instruction, state, vm.state().counted()});
    if (input.size() < 2) break;
  }
  return answers;
}

/// What a program has that releases treat differently.
struct Uses {
  bool skip = false, del_if_empty = false, both = false;  // flags of a merge
  bool merges = false, deletes = false;

  explicit Uses(Bytes program) {
    const Program decoded(program);
    for (const Instruction& instruction : decoded.all()) {
      merges |= instruction.op == OpCode::kMerge;
      deletes |= instruction.op == OpCode::kDel;
      skip |= instruction.skip_submessages;
      del_if_empty |= instruction.del_if_src_empty;
      both |= instruction.skip_submessages && instruction.del_if_src_empty;
    }
  }
};

/// The same but for memory, which older releases count otherwise.
bool AgreeInStates(std::vector<Answer> a, std::vector<Answer> b) {
  for (std::vector<Answer>* const answers : {&a, &b})
    for (Answer& answer : *answers) answer.counted = 0;
  return a == b;
}

void CompareReleases(uint64_t limit, Bytes input) {
  Bytes parts = input;
  const Uses uses(TakePart(parts));
  const auto run = [&](uint32_t release, uint64_t at_most) {
    return RunAll(*FindProtoVmRules(release), at_most, input);
  };
  const auto of_54 = run(54, limit), of_55 = run(55, limit), of_56 = run(56, limit),
             of_57 = run(57, limit);
  Must(of_57 == run(58, limit));
  Must(uses.both || of_56 == of_57);
  Must(uses.skip || of_54 == of_55);
  // Between v55 and v56 merges, deletions, and what a node takes changed.
  if (!uses.merges && !uses.deletes) Must(AgreeInStates(run(55, UINT64_MAX), run(56, UINT64_MAX)));
}

}  // namespace
}  // namespace ringscope::protovm

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ringscope::protovm;
  if (size < 2) return 0;
  const uint64_t limit = uint64_t{data[0]} << (data[1] % 12);
  const ringscope::Bytes input(data + 2, size - 2);
  CompareReleases(limit, input);
  return 0;
}
