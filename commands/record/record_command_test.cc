// What `record` reports at its end.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/shell/commands.h"
#include "commands/testing/ipc_peer.h"
#include "commands/testing/memory_run.h"

namespace ringscope::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Records a shell's script, without a service.
Ran Record(const TempFolder& folder, const std::string& script,
           std::vector<std::string> options = {}) {
  std::vector<std::string> args = {"-o",        folder.File("a.tblog"),
                                   "--listen",  UniqueSocketName("listen"),
                                   "--connect", UniqueSocketName("service")};
  args.insert(args.end(), options.begin(), options.end());
  for (const char* arg : {"--", "/bin/sh", "-c"}) args.emplace_back(arg);
  args.push_back(script);
  return RunCommand(RecordCommand(), args);
}

TEST(RecordCommand, Text_BeginsWithTheVerdict) {
  const TempFolder folder;
  const Ran ran = Record(folder, "true");
  EXPECT_EQ(ran.code, ExitCode::kClean);
  EXPECT_THAT(ran.err, HasSubstr("Nothing was recorded: no producer committed anything.\n"));
  EXPECT_THAT(ran.err, HasSubstr("dropped    none"));
  EXPECT_THAT(ran.err, HasSubstr("next       ringscope info "));
  const Ran info = RunCommand(InfoCommand(), {folder.File("a.tblog")});
  EXPECT_THAT(info.out, HasSubstr("Nothing was recorded"));
}

TEST(RecordCommand, Json_IsOneDocument) {
  const TempFolder folder;
  const Ran ran = Record(folder, "true", {"--format", "json"});
  EXPECT_EQ(ran.code, ExitCode::kClean);
  EXPECT_THAT(ran.out, StartsWith("{"));
  EXPECT_EQ(CountOf(ran.out, "\"schema\": \"ringscope.record/1\""), 1u);
  EXPECT_THAT(ran.out, HasSubstr("\"ending\": \"program\""));
  EXPECT_THAT(ran.out, HasSubstr("\"exact\": true"));
}

TEST(RecordCommand, Compare_WithNoTrace_Fails) {
  const TempFolder folder;
  const Ran ran = Record(folder, "true", {"--compare", folder.File("none.pftrace")});
  EXPECT_EQ(ran.code, ExitCode::kFailed);
  EXPECT_THAT(ran.err, HasSubstr("could not be compared with"));
}

// Nothing is recorded in vain.
TEST(RecordCommand, Compare_WithStandardInput_IsRefused) {
  const TempFolder folder;
  const Ran ran = Record(folder, "true", {"--compare", "-"});
  EXPECT_EQ(ran.error_code, ErrorCode::kUsage);
  EXPECT_THAT(ran.error, HasSubstr("--compare cannot read the trace from standard input"));
}

}  // namespace
}  // namespace ringscope::testing
