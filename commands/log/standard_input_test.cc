#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace ringscope
