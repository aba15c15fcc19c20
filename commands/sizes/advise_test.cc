#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "formats/testing/files.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

/// The kinds of remedies for a ring that reaches back 0.1 s.
std::set<std::string> KindsOf(std::vector<std::string> options) {
  options.insert(options.end(), {"--format", "json", testing::CapturePath("ring-v2")});
  const Json document = testing::ParsedJson(RunCommand(AdviseCommand(), options).out);
  std::set<std::string> kinds;
  for (const Json& remedy : document["sessions"][0]["remedies"])
    kinds.insert(remedy["kind"].get<std::string>());
  return kinds;
}

TEST(Advise, StateIsRepeatedWhereTheRingHoldsEnoughButNotAll) {
  EXPECT_FALSE(KindsOf({}).contains("clear_state"));
  EXPECT_TRUE(KindsOf({"--keep", "1s"}).contains("clear_state"));
  EXPECT_EQ(KindsOf({"--keep", "10s"}), std::set<std::string>{"size"});
}

TEST(Advise, Output_IsTheConfigAsTheUserWroteItWithTheChanges) {
  const TempFolder folder;
  const std::string config = folder.Write("a.pbtxt",
                                          "# mine\nbuffers { size_kb: 4 }\n\ndata_sources { config "
                                          "{ name: \"x\" } }\nflush_period_ms: 7\n");
  const std::string log = std::string(RS_TESTDATA) + "/sessions/intern0.ops.jsonl.zst";
  const auto written =
      RunCommand(AdviseCommand(), {"--config", config, log, "-o", folder.File("b.pbtxt")});
  EXPECT_EQ(written.code, ExitCode::kNotice);
  const std::string changed = ReadFile(folder.File("b.pbtxt"));
  EXPECT_THAT(changed, ::testing::StartsWith("# mine\n# changed, was 4: "));
  EXPECT_THAT(changed, ::testing::EndsWith("\nflush_period_ms: 7\n"));

  const std::string patch =
      RunCommand(AdviseCommand(), {"--config", config, log, "--format", "diff"}).out;
  EXPECT_THAT(patch, ::testing::StartsWith("--- " + config + "\n+++ " + config + "\n@@ -1,5 +1,"));
  EXPECT_THAT(patch, ::testing::HasSubstr("\n-buffers { size_kb: 4 }\n+# changed, was 4: "));
  EXPECT_THAT(patch, ::testing::EndsWith("\n flush_period_ms: 7\n"));
}

// A table of all pairs of lines would take 3 GB.
TEST(Advise, PatchOfALargeConfig_HasTheChangedLinesAlone) {
  const TempFolder folder;
  std::string config = "buffers { size_kb: 4 }\n";
  for (int i = 0; i < 20'000; ++i) config += fmt::format("# line {}\n", i);
  const std::string path = folder.Write("large.pbtxt", config);
  const std::string log = std::string(RS_TESTDATA) + "/sessions/intern0.ops.jsonl.zst";
  const std::string patch =
      RunCommand(AdviseCommand(), {"--config", path, log, "--format", "diff"}).out;
  EXPECT_THAT(patch, ::testing::HasSubstr("\n-buffers { size_kb: 4 }\n+# changed, was 4: "));
  EXPECT_THAT(patch, ::testing::EndsWith("\n # line 0\n # line 1\n # line 2\n"));
}

TEST(Advise, OutputOfSeveralTraces_IsRefused) {
  const std::string captures = std::string(RS_TESTDATA) + "/captures/";
  EXPECT_THAT(RunCommand(AdviseCommand(), {captures, "--format", "diff"}).error,
              ::testing::HasSubstr("the config of one is changed"));
}

TEST(Advise, Config_NamesTheSettingsThatNoReplayApplies) {
  const TempFolder folder;
  const std::string log = std::string(RS_TESTDATA) + "/sessions/surface2.ops.jsonl.zst";
  const std::string config = folder.Write(
      "a.pbtxt",
      "buffers { size_kb: 8 }\ndata_sources { config { name: \"linux.ftrace\" ftrace_config { "
      "ftrace_events: \"sched/sched_waking\" } } }\ndata_sources { config { name: "
      "\"linux.process_stats\" } }\nflush_period_ms: 500\nduration_ms: 2000\n");
  EXPECT_THAT(WithoutLineBreaks(RunCommand(GapsCommand(), {"--config", config, log}).out),
              ::testing::HasSubstr("No replay can apply these settings of the config: "
                                   "flush_period_ms, data_sources[0] (linux.ftrace)."));
}

}  // namespace
}  // namespace ringscope
