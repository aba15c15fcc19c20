// Shards of a run in processes of their own, started by GNU parallel and by xargs as a user would.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "commands/testing/memory_run.h"

namespace ringscope {
namespace {

/// Runs a line with a shell. @return its exit status
int Shell(const std::string& line) {
  const int status = std::system(line.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Parallel, Shards_MergeToWhatOneRunGives) {
  if (Shell("command -v parallel >/dev/null") != 0) GTEST_SKIP() << "GNU parallel is missing";
  const TempFolder work;
  const std::string tool = RS_BINARY;
  const std::string options =
      fmt::format("sweep {}/captures --reads end --sizes 128k,1M --format json", RS_TESTDATA);
  ASSERT_EQ(Shell(fmt::format("cd {} && {} {} > whole.json", work.path(), tool, options)), 0);
  // As in docs/sizes-and-advice.md, but for the tool's path.
  ASSERT_EQ(Shell(fmt::format("cd {} && parallel --will-cite {} {} --shard {{}}/4 '>' "
                              "part-{{}}.json ::: 1 2 3 4",
                              work.path(), tool, options)),
            0);
  ASSERT_EQ(Shell(fmt::format("cd {} && {} merge --format json part-*.json > merged.json",
                              work.path(), tool)),
            0);
  EXPECT_GT(ReadFile(work.File("whole.json")).size(), 1000u);
  EXPECT_EQ(ReadFile(work.File("merged.json")), ReadFile(work.File("whole.json")));
}

/// The recipe of docs/batch.md with xargs, for a tool that may fail.
class ShardScript : public ::testing::Test {
 protected:
  static constexpr const char* kCommand = "gaps";
  ShardScript() { EXPECT_EQ(Shell(In("{} {} {} > whole.txt")), 3); }

  /// A line with the tool, the command and the folder of logs in place of {}.
  std::string In(const std::string& line) const {
    return fmt::format("cd {} && ", work_.path()) +
           fmt::format(fmt::runtime(line), RS_BINARY, kCommand, RS_TESTDATA "/captures");
  }
  /// Writes a script that takes the tool's place.
  void WriteTool(const std::string& text) const {
    std::ofstream(work_.File("tool")) << "#!/bin/bash\n" << text << "exec " RS_BINARY " \"$@\"\n";
    std::filesystem::permissions(work_.File("tool"), std::filesystem::perms::owner_all);
  }
  /// All four shards. @return the status of xargs: 123 if a shard has no result
  int RunShards() const {
    return Shell(
        fmt::format("cd {} && seq 4 | RINGSCOPE=./tool RINGSCOPE_TRIES=2 xargs -P 2 -I{{}} "
                    "{}/share/ringscope/run_shard.sh {{}}/4 results {} {}/captures 2> messages",
                    work_.path(), RS_SOURCE_DIR, kCommand, RS_TESTDATA));
  }
  int Merge() const {
    return Shell(
        fmt::format("cd {} && {} merge results/part-*.json > merged.txt", work_.path(), RS_BINARY));
  }
  std::string Read(const std::string& name) const { return ReadFile(work_.File(name)); }

  const TempFolder work_;
};

TEST_F(ShardScript, ShardsThatFailAreRunAgain) {
  // Each shard fails the first time, after a part of its result.
  WriteTool(
      "mark=failed-${*//[^0-9]/}\nif [ ! -e \"$mark\" ]; then\n"
      "touch \"$mark\"; echo '{\"half\":'; exit 137\nfi\n");
  EXPECT_EQ(RunShards(), 0) << Read("messages");
  EXPECT_THAT(Read("messages"), ::testing::HasSubstr("shard 2/4 ended with status 137, try 1"));
  EXPECT_EQ(Merge(), 3);
  EXPECT_EQ(Read("merged.txt"), Read("whole.txt"));
}

TEST_F(ShardScript, LostShardIsNamed_AndCanBeRunLater) {
  WriteTool("case \"$*\" in *3/4*) kill -9 $$ ;; esac\n");
  EXPECT_EQ(RunShards(), 123) << Read("messages");
  EXPECT_EQ(Merge(), 3);
  EXPECT_THAT(Read("merged.txt"), ::testing::HasSubstr("shard 3 of 4 is missing"));
  // Those that have a result are not run again.
  WriteTool("case \"$*\" in *3/4*) ;; *) exit 1 ;; esac\n");
  EXPECT_EQ(RunShards(), 0) << Read("messages");
  EXPECT_EQ(Merge(), 3);
  EXPECT_EQ(Read("merged.txt"), Read("whole.txt"));
}

TEST_F(ShardScript, WrongCommandLine_IsNotRepeated) {
  WriteTool("echo run >> runs; exit 2\n");
  EXPECT_EQ(RunShards(), 123);
  EXPECT_EQ(Read("runs"), "run\nrun\nrun\nrun\n");
}

}  // namespace
}  // namespace ringscope
