// The fuzz command: the same findings however it is run, its corpus, and what plug-ins do.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "commands/compare/campaign.h"
#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "commands/view/json.h"
#include "formats/testing/no_threads.h"

namespace ringscope {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

FuzzPlan ReleasePlan(const char* a, const char* b) {
  FuzzPlan plan;
  plan.sides = {SideOf(*FindEngine(a).value()), SideOf(*FindEngine(b).value())};
  plan.kinds = {StreamKind::kCorrect, StreamKind::kHostile, StreamKind::kClones};
  return plan;
}

std::string InWords(const CampaignResult& result) {
  std::string words = fmt::format("{} streams, {} operations, {} differ, {}\n", result.streams,
                                  result.operations, result.differing, result.at_limit);
  for (const CampaignFinding& finding : result.findings) {
    words += fmt::format("{}: {} ({} times, first by {}), {} steps in {}\n", finding.first.cause,
                         finding.first.mismatch.text, finding.streams, *finding.seed,
                         finding.smallest.steps.size(), finding.smallest.size);
    for (const StoredOp& op : ToOps(finding.smallest))
      if (const auto* commit = std::get_if<Commit>(&op.op().body))
        words += wire::AsText(commit->request);
  }
  for (size_t i = 0; i < kBranches.size(); ++i)
    words += fmt::format("{} {}\n", kBranches[i].name, result.coverage.branches.b[i]);
  for (const uint64_t count : result.coverage.rules) words += fmt::format("{} ", count);
  return words;
}

TEST(FuzzCampaign, SameFindings_OnAnyNumberOfThreads) {
  const FuzzPlan plan = ReleasePlan("v2@54", "v2@56");
  for (const size_t findings : {size_t{3}, size_t{100}}) {
    std::string expected;
    for (const unsigned threads : {1u, 2u, 5u}) {
      MemoryRun run;
      run.context.threads = threads;
      const CampaignResult result =
          RunCampaign(plan, {.streams = 150, .findings = findings}, {}, run.context);
      EXPECT_EQ(result.at_limit, findings == 3);
      if (expected.empty()) expected = InWords(result);
      EXPECT_EQ(InWords(result), expected) << threads;
    }
    EXPECT_THAT(expected, HasSubstr("v2@56:recommit_before_evict"));
  }
}

// Where the system starts none of the threads, or not all.
TEST(FuzzCampaign, WithoutThreads_SameFindings) {
  const FuzzPlan plan = ReleasePlan("v2@54", "v2@56");
  const auto campaign = [&plan](unsigned threads) {
    MemoryRun run;
    run.context.threads = threads;
    return InWords(RunCampaign(plan, {.streams = 150, .findings = 3}, {}, run.context));
  };
  const std::string expected = campaign(1);
  for (const unsigned first : {0u, 1u}) {
    const testing::NoThreads no_more_threads(first);
    EXPECT_EQ(campaign(3), expected) << first;
  }
}

/// Where a stream takes long, a campaign of a second is one of a second: before, each thread did 64
/// streams at least.
TEST(FuzzCampaign, TimeIsALimit_BeforeManyStreams) {
  MemoryRun run;
  run.context.threads = 2;
  const CampaignResult result =
      RunCampaign(ReleasePlan("v2@57", "v2@58"), {.time_ns = 100'000}, {}, run.context);
  EXPECT_LT(result.streams, 32u);
}

// What V1 is known to do differently has names, as far as counters and loss bits show it.
TEST(FuzzCommand, DifferencesOfV1_AreNamedAndIgnored) {
  const TempFolder folder;
  const auto fuzz = [&](std::vector<std::string> more) {
    std::vector<std::string> args = {"--a", "v1", "--b",         "v2@58",    "--count",
                                     "200", "-o", folder.path(), "--format", "markdown"};
    args.insert(args.end(), more.begin(), more.end());
    return RunCommand(FuzzCommand(), args);
  };
  const Ran all = fuzz({});
  EXPECT_THAT(all.out,
              HasSubstr("### 1. v1:keeps_whole_payload\n\nA commit keeps its whole payload.\n"));
  EXPECT_THAT(all.out, HasSubstr("v1:flags_first_packets"));
  const Ran rest = fuzz({"--ignore", "v1:keeps_wh", "--ignore", "v1:flags"});
  EXPECT_THAT(rest.out, ::testing::Not(HasSubstr("v1:keeps_whole_payload")));
  EXPECT_THAT(rest.out, ::testing::Not(HasSubstr("v1:flags_first_packets")));
  EXPECT_THAT(fuzz({"--ignore", "v1:keeps"}).error, HasSubstr("the start of several names of V1"));
  EXPECT_THAT(fuzz({"--ignore", "v1:nothing"}).error, HasSubstr("no known difference of V1"));
  EXPECT_THAT(
      RunCommand(FuzzCommand(), {"--a", "v2@57", "--b", "v2@58", "--ignore", "v1:keeps_w"}).error,
      HasSubstr("are not V1 and a V2"));
}

// Each rule and each branch by name, in both forms.
TEST(FuzzCommand, Coverage_IsNamed) {
  const TempFolder folder;
  std::vector<std::string> args = {"--a",     "v2@57", "--b", "v2@58",
                                   "--count", "64",    "-o",  folder.path()};
  const Ran text = RunCommand(FuzzCommand(), args);
  args.insert(args.end(), {"--format", "json"});
  const Ran ran = RunCommand(FuzzCommand(), args);
  const Json document = ParseJson(ran.out).value();
  const Json& coverage = document.at("coverage");
  ASSERT_EQ(coverage.at("rules").size(), kNamedRules.size());
  for (size_t i = 0; i < kNamedRules.size(); ++i) {
    EXPECT_EQ(coverage.at("rules")[i].at("rule").get<std::string>(), FullName(kNamedRules[i]));
    EXPECT_THAT(text.out, HasSubstr("  " + FullName(kNamedRules[i]) + " "));
  }
  ASSERT_EQ(coverage.at("branches").size(), kBranches.size());
  for (size_t i = 0; i < kBranches.size(); ++i) {
    const Json& branch = coverage.at("branches")[i];
    EXPECT_EQ(branch.at("branch").get<std::string>(), kBranches[i].name);
    EXPECT_EQ(branch.at("meaning").get<std::string>(), kBranches[i].meaning);
    EXPECT_THAT(text.out, HasSubstr(std::string("\n  ") + kBranches[i].name + " "));
    const uint64_t taken = branch.at("a").get<uint64_t>() + branch.at("b").get<uint64_t>();
    const Json& names = coverage.at("never_reached");
    bool never = false;
    for (size_t k = 0; k < names.size(); ++k)
      never |= names[k].get<std::string>() == kBranches[i].name;
    EXPECT_EQ(never, taken == 0) << kBranches[i].name;
  }
  EXPECT_THAT(text.out, HasSubstr("Never reached: discard.unknown"));
}

// Of one engine's own losses: the smallest stream, and the command that shows it.
TEST(FuzzCommand, Losses_AreJudged) {
  const TempFolder folder;
  const std::vector<std::string> args = {"--a", "v2@58",  "--b",     "v2@58", "--count",
                                         "64",  "--mode", "correct", "-o",    folder.path()};
  EXPECT_EQ(RunCommand(FuzzCommand(), args).code, ExitCode::kClean);
  std::vector<std::string> judged = args;
  judged.emplace_back("--losses");
  const Ran ran = RunCommand(FuzzCommand(), judged);
  EXPECT_EQ(ran.error, "");
  EXPECT_EQ(ran.code, ExitCode::kNotice);
  EXPECT_THAT(ran.out, HasSubstr("losses of A: false_sign (read_gap)\n"));
  const std::string file = folder.File("v2-58-v2-58-losses-of-A-false-sign-read-gap.ops.jsonl");
  EXPECT_THAT(ReadFile(file), HasSubstr("'ringscope gaps FILE --engine v2@58' shows: v2@58: the"));
  EXPECT_LE(CountOf(ReadFile(file), "\n"), 7u);
}

TEST(FuzzCommand, CorpusIsReadAndExtended) {
  const TempFolder folder;
  const std::string corpus = folder.File("corpus");
  const auto files = [&] {
    return std::distance(fs::directory_iterator(corpus), fs::directory_iterator());
  };
  // A new folder gets the findings; a second run finds them there.
  const std::vector<std::string> args = {"--a",     "v2@57", "--b",      "v2@58",
                                         "--count", "64",    "--corpus", corpus};
  const Ran first = RunCommand(FuzzCommand(), args);
  EXPECT_EQ(first.error, "");
  EXPECT_EQ(first.code, ExitCode::kNotice);
  ASSERT_EQ(files(), 2);
  const Ran second = RunCommand(FuzzCommand(), args);
  EXPECT_THAT(second.out, HasSubstr("2 streams of the corpus"));
  EXPECT_THAT(WithoutLineBreaks(second.out),
              HasSubstr("corpus/v2-57-v2-58-v2-58-allows-writer-drop.ops.jsonl"));
  EXPECT_EQ(files(), 2);
  // A release without the difference has none in the corpus, either.
  const Ran same = RunCommand(FuzzCommand(),
                              {"--a", "v2@57", "--b", "v2@57", "--count", "0", "--corpus", corpus});
  EXPECT_EQ(same.code, ExitCode::kClean);
}

TEST(FuzzCommand, FilesAreNotReplaced) {
  const TempFolder folder;
  const std::string name = folder.File("v2-57-v2-58-v2-58-allows-writer-drop.ops.jsonl");
  std::ofstream(name) << "mine\n";
  const std::vector<std::string> args = {"--a",     "v2@57",      "--b",      "v2@58",
                                         "--count", "64",         "--ignore", "v2@58:relocates",
                                         "-o",      folder.path()};
  for (int run = 0; run < 2; ++run) EXPECT_EQ(RunCommand(FuzzCommand(), args).error, "");
  std::string first;
  std::getline(std::ifstream(name) >> std::ws, first);
  EXPECT_EQ(first, "mine");
  EXPECT_TRUE(fs::exists(folder.File("v2-57-v2-58-v2-58-allows-writer-drop-2.ops.jsonl")));
  EXPECT_FALSE(fs::exists(folder.File("v2-57-v2-58-v2-58-allows-writer-drop-3.ops.jsonl")));
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

TEST(FuzzCommand, SlowOperations_AreFindings) {
  const TempFolder folder;
  const Ran ran = RunCommand(FuzzCommand(), {"--a", "v2@58", "--b", "v2@58", "--count", "1",
                                             "--op-time", "1ns", "-o", folder.path()});
  EXPECT_EQ(ran.code, ExitCode::kNotice);
  EXPECT_THAT(ran.out, HasSubstr("1. time of A"));
}

}  // namespace
}  // namespace ringscope
