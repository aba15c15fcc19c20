// A remedy gives what a replay with its config gives.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/gaps/gap_analysis.h"
#include "core/perfetto/page.h"
#include "core/remedies/try_remedies.h"
#include "formats/inputs/open_log.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

std::string Text(const TriedOutcome& outcome) {
  return fmt::format("{} lost, {} full, {} waiting", outcome.lost, outcome.full, outcome.waiting);
}

/// A log of one session and the remedies for what it lost.
class RemedyRun {
 public:
  /// @param size of all buffers, bytes
  RemedyRun(const std::string& path, const std::string& engine, uint64_t size,
            std::optional<uint64_t> keep_ns = {}) {
    input.open = [path]() -> Result<std::unique_ptr<OpSource>> { return OpenLog(path); };
    own.options.session.all.engine = engine;
    own.options.session.all.size = size;
    own.options.reads.mode = ReadsMode::kEnd;
    GapAnalysis analysis(/*stale_ns=*/UINT64_MAX);
    SessionNotes notes;
    Ledger ledger(analysis);
    CountedReplay replay(own.options, {&ledger, &analysis, &notes});
    const auto ops = OpenLog(path).value();
    while (const auto op = ops->Next().value()) EXPECT_TRUE(replay.Apply(*op));
    const ReplayOutcome outcome = replay.Finish().value();
    own.totals = ledger.totals();
    const GapReport report = analysis.Finish(ledger.totals());
    for (const BufferOutcome& buffer : outcome.buffers)
      input.facts.buffers[buffer.id].size = buffer.size;
    remedies = FindRemedies({report, outcome, notes});
    const Status tried = TryRemedies(input, own, RemediesTried::kAll, keep_ns, remedies);
    EXPECT_TRUE(tried) << tried.error().ToString();
  }

  /// With a ledger of its own. @param buffer absent: the sum of all
  SweepRow Exact(const ReplayOptions& options, std::optional<BufferId> buffer) const {
    Sweep alone(input);
    const auto rows = alone.Run({{0, options}});
    EXPECT_TRUE(rows);
    SweepRow sum;
    for (const SweepRow& row : rows->front()) {
      if (buffer && row.id == *buffer) return row;
      sum.lost += row.lost;
      sum.overwritten += row.overwritten;
      sum.discarded += row.discarded;
    }
    return sum;
  }

  SweepInput input;
  OwnReplay own;
  std::vector<Remedy> remedies;
};

class RemediesTest : public ::testing::TestWithParam<std::string> {
 protected:
  /// @return how many were checked
  static size_t Check(const RemedyRun& run, std::optional<uint64_t> keep_ns = {}) {
    size_t checked = 0;
    for (const Remedy& remedy : run.remedies) {
      if (!remedy.outcome || remedy.kind == RemedyKind::kSplit) continue;
      SCOPED_TRACE(Name(remedy.kind));
      ReplayOptions options = run.own.options;
      if (remedy.kind == RemedyKind::kReadPeriod)
        options.reads = {ReadsMode::kStreamed, remedy.period_ns, {}};
      if (remedy.kind == RemedyKind::kPolicy)
        options.session.buffers[*remedy.buffer].policy = FillPolicy::kRingBuffer;
      if (remedy.kind == RemedyKind::kSize)
        options.session.buffers[*remedy.buffer].size = remedy.size;
      const SweepRow exact = run.Exact(options, remedy.buffer);
      EXPECT_EQ(remedy.outcome->lost, exact.lost);
      EXPECT_EQ(remedy.outcome->full, exact.full_packets());
      if (remedy.buffer) {
        EXPECT_EQ(Text(*remedy.outcome), Text(OutcomeOf(exact)));
      }
      ++checked;
      if (remedy.kind != RemedyKind::kSize) continue;
      // A page less is too little.
      const auto meets = [&](const SweepRow& row) {
        return row.full_packets() == 0 || (keep_ns && row.shortest_history_ns >= *keep_ns);
      };
      EXPECT_TRUE(meets(exact));
      options.session.buffers[*remedy.buffer].size = remedy.size - kPageBytes;
      if (remedy.size > kPageBytes) {
        EXPECT_FALSE(meets(run.Exact(options, remedy.buffer)));
      }
    }
    return checked;
  }
};

INSTANTIATE_TEST_SUITE_P(Captures, RemediesTest, testing::AllCaptures(),
                         testing::NameOfParam<std::string>);

TEST_P(RemediesTest, GiveWhatAReplayWithThemGives) {
  for (const std::string engine : {"v1", "v2@58"}) {
    SCOPED_TRACE(engine);
    const RemedyRun run(testing::CapturePath(GetParam()), engine, 64 << 10);
    EXPECT_GT(Check(run), 0u);
  }
}

TEST_P(RemediesTest, KeepAHistory) {
  constexpr uint64_t kKeepNs = 200'000'000;
  const RemedyRun run(testing::CapturePath(GetParam()), "v2@58", 64 << 10, kKeepNs);
  Check(run, kKeepNs);
}

// No replay of gaps, doctor or advise takes much more memory than the session itself.
TEST(Remedies, OfLargeSizesAreEstimates) {
  RemedyRun run(testing::CapturePath("ring-v2"), "v2@58", 64 << 10);
  const auto size = std::ranges::find(run.remedies, RemedyKind::kSize, &Remedy::kind);
  ASSERT_NE(size, run.remedies.end());
  EXPECT_FALSE(size->is_estimate());
  run.input.memory_limit = 128 << 10;
  std::vector<Remedy> again = {*size};
  again.front().outcome.reset();
  ASSERT_TRUE(TryRemedies(run.input, run.own, RemediesTried::kSizesAndPeriods, {}, again));
  EXPECT_TRUE(again.front().is_estimate());
  EXPECT_FALSE(again.front().outcome);
  EXPECT_EQ(again.front().changes.front().value, std::to_string(size->size / 1024));
}

// Streams that make engines do whatever they can.
TEST(Remedies, OfConformanceCasesGiveWhatAReplayGives) {
  constexpr size_t kStep = 20;  // every so manieth case
  const std::vector<std::string> paths = testing::ListTestdata("conformance/cases", ".zst");
  for (size_t i = 0; i < paths.size(); i += kStep) {
    SCOPED_TRACE(paths[i]);
    const RemedyRun run(testing::TestdataPath(paths[i]).string(), "v2@58", 4096);
    for (const Remedy& remedy : run.remedies) {
      if (remedy.kind != RemedyKind::kSize || !remedy.outcome) continue;
      ReplayOptions options = run.own.options;
      options.session.buffers[*remedy.buffer].size = remedy.size;
      EXPECT_EQ(Text(*remedy.outcome), Text(OutcomeOf(run.Exact(options, remedy.buffer))));
    }
  }
}

}  // namespace
}  // namespace ringscope
