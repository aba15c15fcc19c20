// The behaviour of each instruction is checked against the released service's answers
// (commands/protovm); here is what these answers do not show.

#include "core/protovm/proto_vm.h"

#include <gtest/gtest.h>

#include "core/testing/protovm_dsl.h"

namespace ringscope::protovm {
namespace {

using namespace testing::vm;  // NOLINT: programs

class TestedVm {
 public:
  explicit TestedVm(const std::string& program, uint32_t release = 58, uint64_t limit = 1 << 20)
      : vm_(*FindProtoVmRules(release), wire::AsBytes(program), limit) {}

  RunOutcome Run(const std::string& packet) { return vm_.Run(wire::AsBytes(packet)); }
  std::string state() const { return vm_.SerializeState(); }
  ProtoVm& vm() { return vm_; }

 private:
  ProtoVm vm_;
};

TEST(ProtoVm, FoldsPatchesIntoElements) {
  TestedVm vm(ElementsProgram());
  EXPECT_EQ(vm.Run(Sub(3, Element(0, 10)) + Sub(3, Element(1, 11))).result, RunResult::kOk);
  EXPECT_EQ(vm.Run(Sub(2, Element(1, 12))).result, RunResult::kOk);
  EXPECT_EQ(vm.Run(Uint(1, 0)).result, RunResult::kOk);
  EXPECT_EQ(vm.state(), Sub(1, Element(1, 12)));
}

TEST(ProtoVm, ReportsWhereAndWhyARunFailed) {
  TestedVm vm(ElementsProgram());
  const RunOutcome outcome = vm.Run(Sub(3, Sub(1, "id")));
  EXPECT_EQ(outcome.result, RunResult::kAbort);
  EXPECT_EQ(outcome.reason, Reason::kSourceNotScalar);
  EXPECT_EQ(vm.vm().program().PlaceOf(outcome.instruction),
            "instructions[2].nested_instructions[0].nested_instructions[0]");
}

TEST(ProtoVm, AScalarAtTheRootEndsTheVm) {
  TestedVm vm(ProgramOf({SelectSrc({Field(1)}, {Set()})}));
  const RunOutcome outcome = vm.Run(Uint(1, 5));
  EXPECT_EQ(outcome.result, RunResult::kCrash);
  EXPECT_EQ(outcome.reason, Reason::kScalarAtRoot);
  EXPECT_EQ(vm.state(), "");
  EXPECT_EQ(vm.Run("").result, RunResult::kCrash);
}

TEST(ProtoVm, UseOfADeletedCursorCrashesOlderReleases) {
  const std::string program =
      ProgramOf({SelectSrc({Field(9)}, {SelectDst({Field(1)}, {Set(), Del(), Set()})})});
  for (const auto& known : kProtoVmReleases) {
    TestedVm vm(program, known.release);
    const RunOutcome outcome = vm.Run(Uint(9, 1));
    EXPECT_EQ(outcome.result, known.release < 56 ? RunResult::kCrash : RunResult::kAbort);
    EXPECT_EQ(outcome.reason, Reason::kCursorDeleted);
  }
}

TEST(ProtoVm, ADeletedNodeOfAnEnclosingSelectCrashesOlderReleasesOnceItIsUsed) {
  const std::string inner = SelectSrc({Field(9)}, {Del()});
  const std::string program = ProgramOf({SelectDst({Field(1)}, {inner, inner})});
  EXPECT_EQ(TestedVm(program, 58).Run(Uint(9, 1)).reason, Reason::kWouldDangle);
  const RunOutcome outcome = TestedVm(program, 54).Run(Uint(9, 1));
  EXPECT_EQ(outcome.result, RunResult::kCrash);
  EXPECT_EQ(outcome.reason, Reason::kCursorDeleted);
}

TEST(ProtoVm, ANodeThatIsNotAppendedStaysCounted) {
  // The first merge aborts and leaves its mark on field 1; to the second, it occurs again, and
  // there is space for its node, but not for a repeated field.
  TestedVm vm(ProgramOf({Merge()}), 58, 96 + 48 + 47);
  EXPECT_EQ(vm.Run(Uint(1, 1) + Sub(5, std::string(60, 'x'))).reason, Reason::kMemoryLimit);
  EXPECT_EQ(vm.vm().state().counted(), 96u);
  EXPECT_EQ(vm.Run(Uint(1, 2)).reason, Reason::kMemoryLimit);
  EXPECT_EQ(vm.vm().state().counted(), 96u + 48u);
  EXPECT_EQ(vm.state(), Uint(1, 1));
}

TEST(ProtoVm, ADeepProgramNeedsNoStack) {
  std::string instruction = Set();
  // Lengths make it quadratic to build, not to run.
  for (int depth = 0; depth < 3'000; ++depth) instruction = SelectDst({Field(1)}, {instruction});
  TestedVm vm(ProgramOf({instruction}), 58, uint64_t{1} << 30);
  EXPECT_EQ(vm.Run(Uint(1, 1)).result, RunResult::kOk);
  TestedVm small(ProgramOf({instruction}), 58, 96 * 1000);
  EXPECT_EQ(small.Run(Uint(1, 1)).reason, Reason::kMemoryLimit);
}

TEST(ProtoVm, ARunThatWouldNotEndSoonIsStopped) {
  // Each of 2,000 elements of the packet visits each of 2,000 elements of the state.
  const std::string each = SelectDst({Each(1)}, {});
  std::string packet;
  for (int i = 0; i < 2'000; ++i) packet += Uint(1, 1);
  TestedVm vm(ProgramOf({Merge(), SelectSrc({Each(1)}, {each, each})}));
  const RunOutcome outcome = vm.Run(packet);
  EXPECT_EQ(outcome.result, RunResult::kTooLong);
  EXPECT_EQ(outcome.reason, Reason::kTooManySteps);
}

TEST(ProtoVm, ManyElementsAreNotQuadratic) {
  // Steps are counted: that many elements at once, and then one by one, stay far below the bound.
  TestedVm vm(ElementsProgram(), 58, uint64_t{64} << 20);
  std::string packet;
  for (uint64_t id = 0; id < 100'000; ++id) packet += Sub(2, Element(id, id));
  EXPECT_EQ(vm.Run(packet).result, RunResult::kOk);
  for (uint64_t id = 0; id < 1'000; ++id) ASSERT_EQ(vm.Run(Uint(1, id)).result, RunResult::kOk);
  EXPECT_EQ(vm.vm().state().root().parts->begin()->second.count(), 99'000u);
}

TEST(ProtoVm, RulesTellReleasesApart) {
  for (size_t i = 1; i < kProtoVmReleases.size(); ++i) {
    const bool is_changed = kProtoVmReleases[i].rules != kProtoVmReleases[i - 1].rules;
    EXPECT_EQ(is_changed, kProtoVmReleases[i].release < 58) << kProtoVmReleases[i].release;
  }
  EXPECT_EQ(FindProtoVmRules(53), nullptr);
  EXPECT_EQ(FindProtoVmRules(60), FindProtoVmRules(58));
}

}  // namespace
}  // namespace ringscope::protovm
