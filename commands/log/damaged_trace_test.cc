// Traces that were damaged on their way: every command takes them, and a repaired copy is read by
// protobuf's own parser.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "core/base/wire.h"
#include "core/testing/message_text.h"
#include "formats/descriptors/descriptors.h"
#include "formats/testing/files.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;

std::string Damaged(const std::string& name) {
  return testing::TestdataPath("inputs/damaged/" + name).string();
}

struct DamageCase {
  const char* name;
  const char* file;
  const char* what;  // of the damage
  uint64_t packets;  // that can be read
};

class DamagedTraceTest : public ::testing::TestWithParam<DamageCase> {};

TEST_P(DamagedTraceTest, IsTakenByEveryCommandAndRepaired) {
  const DamageCase& one = GetParam();
  TempFolder folder;
  const std::string path = Damaged(one.file), copy = folder.File("copy.pftrace");
  for (const Command& command : {DoctorCommand(), GapsCommand(), AdviseCommand(), StatsCommand()}) {
    SCOPED_TRACE(command.name);
    EXPECT_EQ(RunCommand(command, {path}).error, "");
  }
  EXPECT_THAT(WithoutLineBreaks(RunCommand(DoctorCommand(), {"--brief", path}).out),
              HasSubstr(one.what));
  EXPECT_EQ(RunCommand(TimelineCommand(), {path, "-o", folder.File("t.pftrace")}).error, "");
  EXPECT_THAT(RunCommand(ReplayCommand(), {path}).error, HasSubstr("a Perfetto trace"));

  const Ran repaired = RunCommand(VerifyCommand(), {path, "--repair", copy, "--format", "json"});
  EXPECT_EQ(repaired.error, "");
  EXPECT_EQ(repaired.code, ExitCode::kNotice);
  const auto trace = testing::ParsedJson(repaired.out)["traces"][0];
  EXPECT_EQ(trace["packets"], one.packets);
  EXPECT_EQ(trace["damage_count"], 1);
  EXPECT_TRUE(descriptors::CanParse("Trace", wire::AsBytes(ReadFile(copy))));
  const Ran again = RunCommand(VerifyCommand(), {copy});
  EXPECT_EQ(again.code, ExitCode::kClean);
  EXPECT_THAT(again.out, HasSubstr("a trace, whole"));
}

INSTANTIATE_TEST_SUITE_P(
    Damage, DamagedTraceTest,
    ::testing::Values(DamageCase{"HoleInTheMiddle", "hole-in-middle.pftrace",
                                 "a packet whose fields cannot be read to its end", 27},
                      DamageCase{"TextBeforeIt", "text-before-it.pftrace",
                                 "a text of 33 bytes is before the trace", 29},
                      DamageCase{"TextMode", "lf-became-crlf.pftrace", "each LF became CR LF", 29}),
    [](const auto& one) { return one.param.name; });

// A part of what 'split' made begins anywhere.
TEST(DamagedTrace, AnyTailOfATraceIsTaken) {
  const std::string whole = ReadFile(Damaged("joined-old-services.pftrace"));
  TempFolder folder;
  for (size_t cut = 1; cut < whole.size() - 1200; cut += 97) {
    const std::string part = folder.Write("part", whole.substr(cut));
    const Ran ran = RunCommand(VerifyCommand(), {part});
    EXPECT_EQ(ran.error, "") << cut;
    EXPECT_THAT(ran.out, HasSubstr("a trace, ")) << cut;
  }
}

// A message inside a packet is damaged: trace processor may never look there, other parsers do.
TEST(DamagedTrace, PacketsWithAMalformedMessageAreLeftOutOfTheCopy) {
  using testing::Sub;
  using testing::Uint;
  const auto packet = [](const std::string& event) {
    return Sub(1, Uint(3, 9999) + Uint(10, 2) + Sub(11, event));
  };
  TempFolder folder;
  const std::string path = folder.Write("a.pftrace", packet("\x0F") + packet(Uint(9, 3)));
  const std::string copy = folder.File("copy.pftrace");
  const Ran ran = RunCommand(VerifyCommand(), {path, "--repair", copy});
  EXPECT_EQ(ran.code, ExitCode::kNotice);
  EXPECT_THAT(ran.out, HasSubstr("1 packet with a malformed message inside was left out."));
  EXPECT_EQ(ReadFile(copy), packet(Uint(9, 3)));
}

// The statistics that come before the second config are of its session.
TEST(DamagedTrace, SessionsOfOldServicesHaveTheirStatistics) {
  const Ran ran =
      RunCommand(DoctorCommand(), {"--format", "json", Damaged("joined-old-services.pftrace")});
  const auto traces = testing::ParsedJson(ran.out)["traces"];
  ASSERT_EQ(traces.size(), 2u);
  EXPECT_EQ(traces[0]["counters"].size(), 0u) << traces[0]["counters"].dump();
  EXPECT_EQ(traces[1]["counters"][0]["name"], "traced_buf_patches_failed");
  EXPECT_EQ(traces[1]["counters"][0]["value"], 7);
}

}  // namespace
}  // namespace ringscope
