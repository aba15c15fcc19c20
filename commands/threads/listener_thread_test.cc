// Commands answer the same whether listeners have a thread of their own or not.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

/// What the command prints with this many threads, and how it ends.
std::string Answer(const Command& command, const std::vector<std::string>& args, unsigned threads) {
  const Ran ran = RunCommand(command, args, "", threads);
  return ran.out + ran.err + ran.error + std::to_string(static_cast<int>(ran.code));
}

void ExpectSame(const Command& command, const std::vector<std::string>& args) {
  SCOPED_TRACE(args.front());
  const std::string expected = Answer(command, args, 1);
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(Answer(command, args, 2), expected);
}

TEST(ListenerThread, Captures_SameAnswers) {
  for (const std::string& name : testing::ListTestdata("captures", ".ops.jsonl.zst")) {
    const std::string path = testing::TestdataPath(name).string();
    ExpectSame(GapsCommand(), {path, "--format", "json"});
    ExpectSame(GapsCommand(),
               {path, "--size", "32KiB", "--reads", "every=500ms", "--format", "jsonl"});
    ExpectSame(GapsCommand(), {path, "--engine", "v1", "--size", "16KiB", "--reads", "end"});
    ExpectSame(DoctorCommand(), {path, "--format", "json"});
    ExpectSame(AdviseCommand(), {path, "--format", "json"});
  }
}

TEST(ListenerThread, ConformanceCases_SameAnswers) {
  for (const std::string& name : testing::ListTestdata("conformance/cases", ".jsonl.zst")) {
    const std::string path = testing::TestdataPath(name).string();
    for (const char* engine : {"v1", "v2@58"})
      ExpectSame(GapsCommand(), {path, "--engine", engine, "--format", "json"});
  }
}

}  // namespace
}  // namespace ringscope
