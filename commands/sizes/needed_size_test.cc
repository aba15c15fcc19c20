// The size that a buffer needs to lose nothing is one number, written in one way by all commands.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "core/base/text.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class NeededSizeTest : public ::testing::TestWithParam<const char*> {};

/// "With 6.39 MiB (size_kb: 6548), buffer 1 keeps everything": the sizes in KiB, by buffer.
std::map<uint64_t, uint64_t> SizesOfGaps(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::map<uint64_t, uint64_t> sizes;
  const std::regex line(R"(With [0-9.]+ .iB \(size_kb: (\d+)\), +buffer +(\d+) )");
  for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at)
    sizes[std::stoull((*at)[2])] = std::stoull((*at)[1]);
  return sizes;
}

TEST_P(NeededSizeTest, IsTheSameForAllCommands) {
  const std::string log = testing::CapturePath(GetParam());
  const std::map<uint64_t, uint64_t> sizes = SizesOfGaps(RunCommand(GapsCommand(), {log}).out);
  EXPECT_EQ(sizes.empty(), std::string(GetParam()) == "lossless-v2");
  const json advised =
      json::parse(RunCommand(AdviseCommand(), {log, "--format", "json"}).out)["sessions"][0];
  std::string swept = RunCommand(SweepCommand(), {log}).out;
  std::replace(swept.begin(), swept.end(), '\n', ' ');
  for (const auto& [buffer, size_kb] : sizes) {
    const std::string text = SizeWithKb(size_kb * 1024);
    EXPECT_THAT(swept, HasSubstr(HumanSize(size_kb * 1024) + "  "));
    EXPECT_THAT(swept, HasSubstr(fmt::format("(size_kb: {})", size_kb)));
    const auto advice = std::ranges::find_if(advised["advice"], [&, id = buffer](const json& one) {
      return one["kind"] == "size_too_small" && one["buffer"] == id;
    });
    ASSERT_NE(advice, advised["advice"].end());
    EXPECT_EQ((*advice)["numbers"]["needed"], size_kb * 1024);
    EXPECT_THAT((*advice)["text"].get<std::string>(), HasSubstr(text));
    EXPECT_THAT(advised["config"].get<std::string>(),
                HasSubstr(fmt::format("size_kb: {}", size_kb)));
  }
  for (const json& buffer : advised["predicted"]) EXPECT_EQ(buffer["lost_then"], 0);
}

INSTANTIATE_TEST_SUITE_P(Captures, NeededSizeTest, testing::AllCaptures(),
                         testing::NameOfCapture<const char*>);

}  // namespace
}  // namespace ringscope
