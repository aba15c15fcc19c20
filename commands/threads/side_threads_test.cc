// A comparison is the same whether its sides have threads of their own or not.

#include "commands/threads/side_threads.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "formats/testing/no_threads.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

/// What the comparison prints with this many threads, and how it ends.
std::string Comparison(const std::vector<std::string>& args, unsigned threads) {
  const Ran ran = RunCommand(DiffCommand(), args, "", threads);
  return ran.out + ran.err + ran.error + std::to_string(static_cast<int>(ran.code));
}

void ExpectSameComparison(const std::vector<std::string>& args) {
  SCOPED_TRACE(args.front());
  const std::string expected = Comparison(args, 1);
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(Comparison(args, 2), expected);
}

TEST(SideThreads, Captures_SameComparisons) {
  for (const std::string& name : testing::ListTestdata("captures", ".ops.jsonl.zst")) {
    const std::string path = testing::TestdataPath(name).string();
    ExpectSameComparison({path, "--a", "v1", "--b", "v2", "--format", "json"});
    ExpectSameComparison({path, "--a", "v2@57", "--b", "v2@58", "--a-size", "32KiB", "--b-size",
                          "32KiB", "--a-reads", "every=500ms", "--b-reads", "end"});
    ExpectSameComparison({path, "--a", "v2@54", "--b", "v2@58", "--b-policy", "discard"});
  }
}

TEST(SideThreads, ConformanceCases_SameComparisons) {
  for (const std::string& name : testing::ListTestdata("conformance/cases", ".jsonl.zst")) {
    const std::string path = testing::TestdataPath(name).string();
    ExpectSameComparison({path, "--a", "v2@55", "--b", "v2@58", "--format", "json"});
    ExpectSameComparison({path, "--a", "v1", "--b", "v1", "--b-size", "8KiB"});
  }
}

// What reading warns of comes between the warnings of the replays before and after it.
TEST(SideThreads, DamagedLogs_SameMessages) {
  for (const char* name : {"damaged", "bad", "half-bad", "torn", "aborted", "broken-writers"}) {
    const std::string path =
        testing::TestdataPath(std::string("inputs/") + name + ".ops.jsonl").string();
    ExpectSameComparison({path, "--a", "v1", "--b", "v2"});
  }
}

/// Counts up what each side did, in the order of its sections.
void ExpectSectionsInOrder() {
  Both<std::vector<DiffSection*>> replayed;
  std::vector<DiffSection> sections(20);
  SideThreads threads([&](Side side, DiffSection& section) { replayed[side].push_back(&section); });
  for (DiffSection& section : sections) threads.Put(section);
  for (size_t i = 0; i < sections.size(); ++i) threads.Wait();
  for (const Side side : kSides) {
    ASSERT_EQ(replayed[side].size(), sections.size());
    for (size_t i = 0; i < sections.size(); ++i) EXPECT_EQ(replayed[side][i], &sections[i]);
  }
}

TEST(SideThreads, Sections_AreReplayedInOrder) { ExpectSectionsInOrder(); }

// Where the system starts no thread, or one for the first side alone.
TEST(SideThreads, WithoutThreads_SectionsAreReplayedInOrder) {
  for (const unsigned first : {0u, 1u}) {
    const testing::NoThreads no_more_threads(first);
    ExpectSectionsInOrder();
  }
}

}  // namespace
}  // namespace ringscope
