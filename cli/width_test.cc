// Text for people fits into 80 columns, whatever the command.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "cli/app.h"
#include "commands/shell/text.h"
#include "commands/testing/memory_run.h"

namespace ringscope {
namespace {

struct WidthCase {
  std::vector<std::string> command;
  bool takes_trace = true;
};

const std::vector<WidthCase> kWidthCases = {{{"doctor"}},
                                            {{"doctor", "--brief"}},
                                            {{"gaps", "--limit", "0"}},
                                            {{"stats"}},
                                            {{"stats", "--data-loss"}},
                                            {{"replay"}},
                                            {{"sweep"}},
                                            {{"sweep", "--target", "loss=0"}},
                                            {{"graph"}},
                                            {{"info"}},
                                            {{"verify"}, false}};

class Width : public ::testing::TestWithParam<std::tuple<const char*, WidthCase>> {};

TEST_P(Width, EveryLineFits) {
  const auto& [capture, each] = GetParam();
  const std::string folder = std::string(RS_TESTDATA) + "/captures/" + capture;
  std::vector<std::string> inputs = {folder + "/session.ops.jsonl.zst"};
  if (each.takes_trace) inputs.push_back(folder + "/trace.pftrace.zst");
  for (const std::string& input : inputs) {
    MemoryRun memory;
    std::vector<std::string> args = each.command;
    args.insert(args.begin() + 1, input);
    ASSERT_THAT(RunApp(args, memory.streams), ::testing::AnyOf(0, 3)) << memory.err.text;
    std::istringstream lines(memory.out.text);
    for (std::string line; std::getline(lines, line);) {
      // The name of the input is never broken.
      if (line.find(folder) == std::string::npos) {
        EXPECT_LE(DisplayWidth(line), 80u) << line;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Commands, Width,
                         ::testing::Combine(::testing::Values("ring-v1", "two-buffers-v2",
                                                              "stream-v2"),
                                            ::testing::ValuesIn(kWidthCases)),
                         [](const auto& param) {
                           std::string name = std::get<0>(param.param);
                           for (const std::string& word : std::get<1>(param.param).command)
                             name += "_" + word;
                           std::string safe;
                           for (const char c : name) safe += isalnum(c) != 0 ? c : '_';
                           return safe;
                         });

}  // namespace
}  // namespace ringscope
