// The fuzz command: the same findings however it is run, and with plug-ins.

#include "commands/compare/fuzz.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "commands/view/json_fields.h"
#include "formats/testing/no_threads.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;

FuzzPlan ReleasePlan(const char* a, const char* b) {
  FuzzPlan plan;
  plan.sides = {SideOf(*FindEngine(a).value()), SideOf(*FindEngine(b).value())};
  plan.kinds = {StreamKind::kCorrect, StreamKind::kHostile, StreamKind::kClones};
  return plan;
}

std::string InWords(const FuzzResult& result) {
  std::string words = fmt::format("{} streams, {} operations, {} differ, {}\n", result.streams,
                                  result.operations, result.differing, result.at_limit);
  for (const KnownFinding& finding : result.findings) {
    words += fmt::format("{}: {} ({} times, first by {}), {} operations\n", finding.first.Cause(),
                         finding.first.text, finding.streams, finding.seed, finding.operations());
    for (const StoredOp& op : finding.smallest.ops)
      if (const auto* commit = std::get_if<Commit>(&op.op().body))
        words += wire::AsText(commit->request);
  }
  return words;
}

FuzzArgs Streams(uint64_t streams, uint64_t findings) {
  FuzzArgs args;
  args.streams = streams;
  args.findings = findings;
  return args;
}

TEST(FuzzStreams, SameFindings_OnAnyNumberOfThreads) {
  const FuzzPlan plan = ReleasePlan("v2@54", "v2@56");
  std::string expected;
  for (const unsigned threads : {1u, 2u, 5u}) {
    MemoryRun run;
    run.context.threads = threads;
    const FuzzResult result = RunStreams(plan, Streams(150, 3), run.context);
    EXPECT_TRUE(result.at_limit);
    if (expected.empty()) expected = InWords(result);
    EXPECT_EQ(InWords(result), expected) << threads;
  }
  EXPECT_THAT(expected, HasSubstr("v2@56:recommit_before_evict"));
}

// Where the system starts none of the threads, or not all.
TEST(FuzzStreams, WithoutThreads_SameFindings) {
  const FuzzPlan plan = ReleasePlan("v2@57", "v2@58");
  const auto run_streams = [&plan](unsigned threads) {
    MemoryRun run;
    run.context.threads = threads;
    return InWords(RunStreams(plan, Streams(50, 2), run.context));
  };
  const std::string expected = run_streams(1);
  for (const unsigned first : {0u, 1u}) {
    const testing::NoThreads no_more_threads(first);
    EXPECT_EQ(run_streams(3), expected) << first;
  }
}

TEST(FuzzStreams, TimeIsALimit) {
  MemoryRun run;
  run.context.threads = 2;
  FuzzArgs args;
  args.time_ns = 100'000;
  EXPECT_LT(RunStreams(ReleasePlan("v2@57", "v2@58"), args, run.context).streams, 32u);
}

TEST(FuzzCommand, FilesOfOthersAreNotReplaced) {
  const TempFolder folder;
  const std::string name = folder.File("v2-57-v2-58-v2-58-allows-writer-drop.ops.jsonl");
  const std::vector<std::string> args = {"--a",     "v2@57",      "--b",      "v2@58",
                                         "--count", "64",         "--ignore", "v2@58:relocates",
                                         "-o",      folder.path()};
  for (int run = 0; run < 2; ++run) EXPECT_EQ(RunCommand(FuzzCommand(), args).error, "");
  std::ofstream(name) << "mine\n";
  EXPECT_THAT(RunCommand(FuzzCommand(), args).error, HasSubstr(name));
  EXPECT_EQ(ReadFile(name), "mine\n");
}

// The example plug-in is v2@58.
TEST(FuzzCommand, PlugInThatIsARelease) {
  const std::string plugin = RS_PLUGINS "/v2_plugin.so";
  const Ran same = RunCommand(FuzzCommand(), {"--a", "v2@58", "--b", plugin, "--count", "128"});
  EXPECT_EQ(same.error, "");
  EXPECT_EQ(same.code, ExitCode::kClean) << same.out;
  // It does what v2@57 would with the rules of v2@58.
  const TempFolder folder;
  const Ran older = RunCommand(FuzzCommand(), {"--a", "v2@57", "--b", plugin, "--count", "128",
                                               "-o", folder.path(), "--format", "json"});
  EXPECT_EQ(older.code, ExitCode::kNotice);
  EXPECT_EQ(CountOf(older.out, "\"cause\""), 2u) << older.out;
  const Ran ignored =
      RunCommand(FuzzCommand(), {"--a", "v2@57", "--b", plugin, "--count", "128", "--ignore",
                                 "v2@58:relocates", "--ignore", "v2@58:allows_writer_drop"});
  EXPECT_EQ(ignored.code, ExitCode::kClean) << ignored.out;
}

}  // namespace
}  // namespace ringscope
