#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/common/log_list.h"
#include "commands/log/info.h"
#include "commands/log/repair.h"
#include "commands/log/verify.h"
#include "commands/testing/memory_run.h"

namespace ringscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kTwoNotes =
    "{\"op\":\"note\",\"text\":\"first\"}\n{\"op\":\"note\",\"text\":\"second\"}\n";

// "-" is the input that the run was given, and never that of the process beside it.

TEST(StandardInput, Info) {
  MemoryRun run(kTwoNotes);
  const auto code = RunInfo({.log = "-", .format = "json", .session = {}}, run.context);
  ASSERT_TRUE(code) << code.error().ToString();
  EXPECT_THAT(run.Output(), HasSubstr("\"records\": 2"));
}

TEST(StandardInput, Verify) {
  MemoryRun run(kTwoNotes);
  const auto code = RunVerify({.logs = {"-"}}, run.context);
  ASSERT_TRUE(code) << code.error().ToString();
  EXPECT_THAT(run.Output(), HasSubstr("2 records"));
}

TEST(StandardInput, Repair) {
  TempFolder folder;
  MemoryRun run(kTwoNotes);
  const auto code = RunRepair({.log = "-", .output = folder.File("copy.tblog")}, run.context);
  ASSERT_TRUE(code) << code.error().ToString();
  EXPECT_THAT(run.Output(), HasSubstr("3 records"));
}

TEST(StandardInput, ListOfLogs) {
  MemoryRun run("a.tblog\nb.tblog\n");
  LogChoices choices;
  choices.logs = {"@-"};
  const auto list = ExpandLogs(run.context, choices);
  ASSERT_TRUE(list) << list.error().ToString();
  EXPECT_THAT(list->paths, ElementsAre("a.tblog", "b.tblog"));
}

}  // namespace
}  // namespace ringscope
