// The programs of a trace in the hands of its reader.

#include "core/protovm/trace_vms.h"

#include <gtest/gtest.h>

#include "core/testing/protovm_dsl.h"

namespace ringscope::protovm {
namespace {

using namespace testing::vm;  // NOLINT: programs

/// A list of sequences, as {id, producer}.
std::string Listing(std::initializer_list<std::pair<uint32_t, int32_t>> sequences) {
  std::string buffer;
  for (const auto& [id, producer] : sequences)
    buffer += Sub(1, Uint(1, id) + Uint(2, static_cast<uint64_t>(producer)));
  return Sub(2, buffer);
}
std::string InstanceOf(const std::string& program, const std::string& state, uint32_t limit_kb,
                       std::initializer_list<uint64_t> producers) {
  std::string instance = Sub(1, program) + Sub(2, state) + Uint(3, limit_kb);
  for (const uint64_t producer : producers) wire::AppendUint(instance, 4, producer);
  return Sub(1, instance);
}

class ReadVms {
 public:
  ReadVms(const std::string& listing, const std::string& protovms) {
    vms_.AddProvenance(wire::AsBytes(listing));
    vms_.AddProtoVms(wire::AsBytes(protovms));
  }
  /// The state that a packet becomes; "-": it stays.
  std::string Run(uint32_t sequence, const std::string& packet) {
    if (!vms_.HasProgram(sequence)) return "-";
    return vms_.Run(sequence, wire::AsBytes(packet), {.record = ++packets_, .time_ns = {}})
        .value_or("-");
  }
  TraceVmFacts Finish() { return vms_.Finish(); }

 private:
  TraceVms vms_;
  uint64_t packets_ = 0;
};

TEST(TraceVms, PatchesBecomeStatesThatBeginWithTheTraces) {
  ReadVms vms(Listing({{2, 1}, {3, 2}}),
              InstanceOf(ElementsProgram(), Sub(1, Element(1, 11)), 16, {1}));
  EXPECT_EQ(vms.Run(2, Sub(2, Element(4, 40))), Sub(1, Element(1, 11)) + Sub(1, Element(4, 40)));
  EXPECT_EQ(vms.Run(2, Uint(1, 1)), Sub(1, Element(4, 40)));
  EXPECT_EQ(vms.Run(3, Uint(1, 4)), "-") << "a sequence of a producer without a program";
  const TraceVmFacts facts = vms.Finish();
  EXPECT_EQ(facts.registration_errors, 0u);
  EXPECT_EQ(facts.aborts, 0u);
  ASSERT_EQ(facts.vms.size(), 1u);
  EXPECT_EQ(facts.vms[0].folded.packets, 2u);
  EXPECT_EQ(facts.vms[0].limit, 16u * 1024);
}

TEST(TraceVms, CountsProducersThatTheTraceDoesNotList) {
  ReadVms vms(Listing({{2, 1}}), InstanceOf(ElementsProgram(), "", 16, {1, 7, 8}) +
                                     InstanceOf(ElementsProgram(), "", 16, {7}));
  EXPECT_EQ(vms.Finish().registration_errors, 3u);
}

TEST(TraceVms, AnAbortLeavesThePatchAndTheNextProgramIsAsked) {
  const std::string set = ProgramOf({SelectSrc({Field(3)}, {SelectDst({Field(9)}, {Set()})})});
  ReadVms vms(Listing({{2, 1}}),
              InstanceOf(ElementsProgram(), "", 16, {1}) + InstanceOf(set, "", 16, {1}));
  const std::string wrong = Sub(3, Sub(1, "id"));
  EXPECT_EQ(vms.Run(2, wrong), Sub(9, Sub(1, "id")));
  EXPECT_EQ(vms.Run(2, Sub(2, Sub(1, "id"))), "-") << "an abort, and then an error";
  const TraceVmFacts facts = vms.Finish();
  EXPECT_EQ(facts.aborts, 2u);
  ASSERT_EQ(facts.vms[0].failures.size(), 2u);
  EXPECT_EQ(facts.vms[0].failures[0].place,
            "instructions[2].nested_instructions[0].nested_instructions[0]");
  EXPECT_EQ(facts.vms[0].failures[1].first.record, 2u);
  EXPECT_EQ(facts.vms[1].errors, 1u);
}

TEST(TraceVms, ASequenceThatIsListedLaterHasNoProgram) {
  ReadVms vms(Listing({{2, 1}}), InstanceOf(ElementsProgram(), "", 16, {1}));
  TraceVms all;
  all.AddProvenance(wire::AsBytes(Listing({{2, 1}})));
  const std::string programs = InstanceOf(ElementsProgram(), "", 16, {1});
  all.AddProtoVms(wire::AsBytes(programs));
  all.AddProvenance(wire::AsBytes(Listing({{2, 1}, {5, 1}})));
  EXPECT_TRUE(all.HasProgram(2));
  EXPECT_FALSE(all.HasProgram(5));
}

TEST(TraceVms, WhatIsTooLargeIsNotRun) {
  ReadVms vms(Listing({{2, 1}}), InstanceOf(ElementsProgram(), "", 1 << 20, {1}));
  EXPECT_EQ(vms.Run(2, Sub(2, Element(1, 1))), "-");
  EXPECT_EQ(vms.Finish().not_run, 1u);
}

}  // namespace
}  // namespace ringscope::protovm
