// The recipe of docs/batch.md, as a user would run it.

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
  const int status = std::system(fmt::format("bash -c \"{}\"", line).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class Batch : public ::testing::Test {
 protected:
  /// Runs doctor for the logs of the captures. @return the status of xargs
  int RunAll(const std::string& tool) const {
    return Shell(fmt::format(
        "cd {} && find {}/captures -name 's*ops.jsonl.zst' | RINGSCOPE={} xargs -P 2 -I{{}} "
        "{}/share/ringscope/run_one.sh results {{}} doctor 2> messages",
        work_.path(), RS_TESTDATA, tool, RS_SOURCE_DIR));
  }
  /// Writes a script that takes the tool's place.
  void WriteTool(const std::string& text) const {
    std::ofstream(work_.File("tool")) << "#!/bin/bash\n" << text << "exec " RS_BINARY " \"$@\"\n";
    std::filesystem::permissions(work_.File("tool"), std::filesystem::perms::owner_all);
  }
  size_t Results() const {
    size_t results = 0;
    for (const auto& file : std::filesystem::directory_iterator(work_.File("results")))
      results += file.path().extension() == ".jsonl" ? 1 : 0;
    return results;
  }

  const TempFolder work_;
};

TEST_F(Batch, FilesThatFailHaveNoResult_AndCanBeRunLater) {
  WriteTool("case \"$*\" in *short-v2*) echo '{\"half\":'; exit 137 ;; esac\n");
  EXPECT_EQ(RunAll("./tool"), 123);
  const size_t without_one = Results();
  EXPECT_GT(without_one, 3u);
  // Those that have a result are not run again.
  WriteTool("case \"$*\" in *short-v2*) ;; *) exit 1 ;; esac\n");
  EXPECT_EQ(RunAll("./tool"), 0);
  EXPECT_EQ(Results(), without_one + 1);
}

TEST_F(Batch, WrongCommandLine_EndsTheRun) {
  WriteTool("exit 2\n");
  EXPECT_EQ(RunAll("./tool"), 124);
  EXPECT_EQ(Results(), 0u);
}

TEST_F(Batch, ResultsAreJoined) {
  if (Shell("command -v sqlite3 >/dev/null") != 0) GTEST_SKIP() << "sqlite3 is missing";
  ASSERT_EQ(RunAll(RS_BINARY), 0);
  std::ofstream(work_.File("join.sh")) << R"(
sed -s -e '$a\' results/*.jsonl > all.jsonl
sqlite3 all.db 'CREATE TABLE line(json)' '.mode ascii' '.separator "\037" "\n"' \
  '.import all.jsonl line'
sqlite3 all.db "SELECT count(DISTINCT line.rowid) FROM line, json_each(line.json, '$.findings')
  WHERE json_each.value ->> 'rule' = 'log.lost'" > lost.txt
)";
  ASSERT_EQ(Shell(fmt::format("cd {} && bash -e join.sh", work_.path())), 0);
  EXPECT_GT(std::atoi(ReadFile(work_.File("lost.txt")).c_str()), 2);
}

}  // namespace
}  // namespace ringscope
