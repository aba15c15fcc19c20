// Shards of a run in processes of their own, started by GNU parallel as a user would.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

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

}  // namespace
}  // namespace ringscope
