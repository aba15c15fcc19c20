#include "core/protovm/program_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/testing/protovm_dsl.h"

namespace ringscope::protovm {
namespace {

using namespace testing::vm;  // NOLINT: programs

/// The findings, a line each: "instructions[0]: aborts key_in_source".
std::string FindingsOf(const std::string& program, std::optional<uint64_t> limit = {}) {
  const Program decoded(wire::AsBytes(program));
  std::string text;
  for (const ProgramFinding& found : CheckProgram(decoded, limit)) {
    text += decoded.PlaceOf(found.instruction) + ": " + Name(found.finding);
    if (found.reason != Reason::kNone) text += std::string(" ") + Name(found.reason);
    if (found.flag != nullptr) text += std::string(" ") + found.flag;
    text += "\n";
  }
  return text;
}

TEST(ProgramCheck, AProgramThatIsRightHasNoFindings) {
  EXPECT_EQ(FindingsOf(ElementsProgram()), "");
  EXPECT_EQ(FindingsOf(""), "");
  EXPECT_EQ(FindingsOf(ProgramOf({Del()})), "");
  EXPECT_EQ(FindingsOf(ProgramOf({SelectDst({Each(1)}, {SelectSrc({Field(1)}, {Del()})})})), "");
}

TEST(ProgramCheck, WhatAbortsMakesTheRestDead) {
  EXPECT_EQ(
      FindingsOf(ProgramOf({SelectSrc({Field(1), Key(1, 0)}, {Set(), Set()}), Merge(), Set()})),
      "instructions[0]: aborts key_in_source\n"
      "instructions[1]: never_reached\n"
      "instructions[0].nested_instructions[0]: never_reached\n");
  EXPECT_EQ(FindingsOf(ProgramOf({"", SelectDst({Field(1)}, {Set()})})),
            "instructions[0]: aborts no_instruction\n"
            "instructions[1]: never_reached\n");
  EXPECT_EQ(FindingsOf(ProgramOf({SelectDst({Index(0)}, {})})),
            "instructions[0]: aborts no_field_id\n");
  EXPECT_EQ(FindingsOf(ProgramOf({SelectDst({Field(1), Key(1, 7)}, {})})),
            "instructions[0]: aborts register_not_loaded\n");
  EXPECT_EQ(FindingsOf(ProgramOf({Load(32)})), "instructions[0]: aborts no_such_register\n");
}

TEST(ProgramCheck, DeletedCursors) {
  EXPECT_EQ(FindingsOf(ProgramOf({SelectDst({Field(1)}, {Del(), Merge()})})),
            "instructions[0].nested_instructions[1]: aborts_or_crashes cursor_deleted\n");
  EXPECT_EQ(FindingsOf(ProgramOf({SelectDst({Field(1)}, {SelectSrc({Field(1)}, {Del()})})})),
            "instructions[0].nested_instructions[0].nested_instructions[0]: aborts_or_crashes "
            "would_dangle\n");
}

TEST(ProgramCheck, ReleasesLimitsAndCrashes) {
  const std::string both = Uint(1, 1) + Uint(2, 1);
  EXPECT_EQ(FindingsOf(ProgramOf({Merge(both)})),
            "instructions[0]: ignored_flag skip_submessages\n"
            "instructions[0]: ignored_flag del_if_src_empty\n"
            "instructions[0]: other_order\n");
  EXPECT_EQ(FindingsOf(ProgramOf({SelectSrc({Field(1)}, {Set()})})),
            "instructions[0].nested_instructions[0]: may_crash scalar_at_root\n");
  const std::string deep =
      ProgramOf({SelectDst({Field(1), Index(0)}, {SelectDst({Field(2)}, {})})});
  EXPECT_EQ(FindingsOf(deep, 3 * 96), "");
  EXPECT_EQ(FindingsOf(deep, 3 * 96 - 1),
            "instructions[0].nested_instructions[0]: over_limit memory_limit\n");
}

}  // namespace
}  // namespace ringscope::protovm
