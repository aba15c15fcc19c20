#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/session/examined.h"
#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "formats/testing/parsed_json.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Of 130,496 packets 84.8% are lost, and all that are left are usable.
const char* const kLossy = RS_TESTDATA "/captures/discard-v2/session.ops.jsonl.zst";
/// A ring reaches back 101.7 ms; no event that is left is usable.
const char* const kShort = RS_TESTDATA "/captures/ring-v2/session.ops.jsonl.zst";
const char* const kWhole = RS_TESTDATA "/captures/lossless-v2/session.ops.jsonl.zst";

struct GateCase {
  std::vector<std::string> args;
  ExitCode code;
  const char* says;  // that is broken; empty: nothing
};

TEST(Gate, EndsARunWhereALimitIsBroken) {
  const GateCase cases[] = {
      {{kLossy}, ExitCode::kNotice, ""},
      {{"--fail-on", "error", kLossy}, ExitCode::kClean, ""},
      {{"--fail-on", "data_loss", kLossy}, ExitCode::kNotice, "data loss (--fail-on data_loss)"},
      {{"--max-lost", "90%", kLossy}, ExitCode::kClean, ""},
      {{"--max-lost", "0.5", kLossy}, ExitCode::kNotice, "84.8% lost, more than 50% (--max-lost)"},
      {{"--min-usable", "95%", kLossy}, ExitCode::kClean, ""},
      {{"--min-usable", "95%", kShort}, ExitCode::kNotice, "less than 95% (--min-usable)"},
      {{"--min-reach", "100ms", kShort}, ExitCode::kClean, ""},
      {{"--min-reach", "1s", kShort},
       ExitCode::kNotice,
       "buffers[0] reaches back 101.7 ms, less than 1.000 s (--min-reach)"},
      {{"--min-reach", "1s", "--max-lost", "0%", kWhole}, ExitCode::kClean, ""}};
  for (const GateCase& one : cases)
    for (const Command& command : {DoctorCommand(), GapsCommand()}) {
      SCOPED_TRACE(command.name + std::string(" ") + ::testing::PrintToString(one.args));
      const auto ran = RunCommand(command, one.args);
      EXPECT_EQ(ran.code, one.code);
      const std::string text = WithoutLineBreaks(ran.out);
      if (*one.says == '\0')
        EXPECT_THAT(text, Not(HasSubstr("Limits that are broken")));
      else
        EXPECT_THAT(text, HasSubstr(one.says));
    }
}

// They are about packets, so that a config cannot pass them.
TEST(Gate, AConfigBreaksEachLimit) {
  const TempFolder folder;
  const std::string config = folder.Write("c.pbtxt", "buffers { size_kb: 64 }\n");
  const auto ran = RunCommand(DoctorCommand(), {"--min-reach", "1s", config});
  EXPECT_EQ(ran.code, ExitCode::kNotice);
  EXPECT_THAT(WithoutLineBreaks(ran.out), HasSubstr("a trace config has no packets"));
}

// A trace alone does not show how many packets were written.
TEST(Gate, ATraceBreaksTheLimitOfLossesWithAnyPlace) {
  const char* const trace = RS_TESTDATA "/captures/ring-v2/trace.pftrace.zst";
  const auto ran = RunCommand(DoctorCommand(), {"--max-lost", "99%", "--format", "json", trace});
  EXPECT_EQ(ran.code, ExitCode::kNotice);
  EXPECT_THAT(testing::ParsedJson(ran.out)["traces"][0]["broken_limits"].dump(),
              HasSubstr("an unknown number of packets missing"));
}

// A refused chunk may have come twice: that packets are missing is not proved.
TEST(Gate, ATraceWithoutAProvedLossBreaksNoLimit) {
  const char* const trace = RS_TESTDATA "/captures/lossless-v2/trace.pftrace.zst";
  EXPECT_EQ(RunCommand(DoctorCommand(), {"--max-lost", "0%", trace}).code, ExitCode::kClean);
}

TEST(Gate, OfSeveralFilesThoseThatBreakItAreNamed) {
  const auto ran = RunCommand(DoctorCommand(), {"--max-lost", "1%", kLossy, kWhole});
  EXPECT_EQ(ran.code, ExitCode::kNotice);
  const std::string text = WithoutLineBreaks(ran.out);
  const std::string broken = text.substr(text.find("Limits that are broken"));
  EXPECT_THAT(broken, HasSubstr("discard-v2"));
  EXPECT_THAT(broken, Not(HasSubstr("lossless-v2")));
}

TEST(Gate, ASharesMistakesAreExplained) {
  for (const char* share : {"101%", "much", "1 %", "1%%"})
    EXPECT_THAT(RunCommand(DoctorCommand(), {"--max-lost", share, kWhole}).error,
                HasSubstr("write it like 1% or 0.01"));
}

}  // namespace
}  // namespace ringscope
