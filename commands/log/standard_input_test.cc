#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/many_logs/log_list.h"
#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"

namespace ringscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kTwoNotes =
    "{\"op\":\"note\",\"text\":\"first\"}\n{\"op\":\"note\",\"text\":\"second\"}\n";

// "-" is the input that the run was given, and never that of the process beside it.

TEST(StandardInput, Info) {
  const Ran ran = RunCommand(InfoCommand(), {"-", "--format", "json"}, kTwoNotes);
  EXPECT_THAT(ran.out, HasSubstr("\"records\": 2"));
}

TEST(StandardInput, Verify) {
  EXPECT_THAT(RunCommand(VerifyCommand(), {"-"}, kTwoNotes).out, HasSubstr("2 records"));
}

TEST(StandardInput, Repair) {
  TempFolder folder;
  const Ran ran =
      RunCommand(VerifyCommand(), {"-", "--repair", folder.File("copy.tblog")}, kTwoNotes);
  EXPECT_THAT(ran.out, HasSubstr("3 records"));
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
