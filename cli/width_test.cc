// Text for people fits into 80 columns, whatever the command.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/app.h"
#include "commands/shell/registry.h"
#include "commands/shell/text.h"
#include "commands/testing/memory_run.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

class Width : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Captures, Width,
                         ::testing::Values("ring-v1", "two-buffers-v2", "stream-v2"),
                         testing::NameOfParam<const char*>);

TEST_P(Width, EveryLineFits) {
  const std::string folder = testing::TestdataPath("captures") / GetParam();
  const std::vector<std::vector<std::string>> commands = {{"doctor"},
                                                          {"doctor", "--brief"},
                                                          {"gaps", "--all"},
                                                          {"stats"},
                                                          {"stats", "--data-loss"},
                                                          {"replay"},
                                                          {"sweep"},
                                                          {"sweep", "--target", "loss=0"},
                                                          {"graph"},
                                                          {"info"},
                                                          {"verify"}};
  for (std::vector<std::string> args : commands) {
    args.insert(args.begin() + 1, "");
    for (const char* file : {"/session.ops.jsonl.zst", "/trace.pftrace.zst"}) {
      args[1] = folder + file;
      const bool needs_log = args[0] == "replay" || args[0] == "sweep" || args[0] == "graph" ||
                             args[0] == "info" || args.back() == "--data-loss";
      if (needs_log && args[1].ends_with("trace.pftrace.zst")) continue;
      SCOPED_TRACE(args[0] + " " + file);
      MemoryRun memory;
      ASSERT_THAT(RunApp(args, memory.streams), ::testing::AnyOf(0, 3)) << memory.err.text;
      for (const std::string_view line : testing::Lines(memory.out.text)) {
        // The name of the input is never broken.
        if (line.find(folder) == std::string_view::npos) {
          EXPECT_LE(DisplayWidth(line), 80u) << line;
        }
      }
    }
  }
}

// By default a person gets a screen; --all and --help have the rest.
TEST_P(Width, AnswersFitOnAScreen) {
  const std::string folder = testing::TestdataPath("captures") / GetParam();
  const std::string log = folder + "/session.ops.jsonl.zst", trace = folder + "/trace.pftrace.zst";
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {log},
           {trace},
           {"gaps", log},
           {"doctor", log},
           {"doctor", trace},
           {"advise", log},
           {"diff", log, "--a", "v1", "--b", "v2"},
           {"diff", log, "--a", "v2@54", "--b", "v2@58", "--b-size", "64k"},
           {"diff", log, trace}}) {
    MemoryRun memory;
    ASSERT_THAT(RunApp(args, memory.streams), ::testing::AnyOf(0, 3)) << memory.err.text;
    EXPECT_LE(testing::Lines(memory.out.text).size(), 40u) << memory.out.text;
  }
}

TEST(Help, OfACommand_FitsOnAScreen) {
  for (const Command& command : Commands()) {
    MemoryRun memory;
    ASSERT_EQ(RunApp(std::vector<std::string>{command.name, "-h"}, memory.streams), 0);
    const auto lines = testing::Lines(memory.out.text);
    EXPECT_LE(lines.size(), 40u) << command.name;
    for (const std::string_view line : lines) EXPECT_LE(DisplayWidth(line), 80u) << line;
  }
}

}  // namespace
}  // namespace ringscope
