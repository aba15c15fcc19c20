#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
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

}  // namespace
}  // namespace ringscope
