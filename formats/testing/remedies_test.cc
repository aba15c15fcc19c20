// A remedy gives what a replay with its config, as it is printed, gives.

#include "core/examine/remedies.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/gaps/gap_analysis.h"
#include "core/perfetto/chunk.h"
#include "formats/descriptors/changed_config.h"
#include "formats/descriptors/descriptors.h"
#include "formats/inputs/open_log.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

/// Losses of a replay, by buffer.
struct TriedReplay {
  std::map<BufferId, LedgerTotals> totals;
  ReplayOutcome outcome;

  uint64_t lost() const {
    uint64_t sum = 0;
    for (const auto& [id, of] : totals) sum += of.lost().packets;
    return sum;
  }
  uint64_t full(BufferId id) const {
    const LedgerTotals& of = totals.at(id);
    return of[Fate::kOverwritten].packets + of[Fate::kDiscarded].packets;
  }
};

/// A log of one session and the remedies for what it lost.
class RemedyRun {
 public:
  /// @param size of all buffers, bytes
  RemedyRun(std::string log, std::string version, uint64_t size,
            std::optional<uint64_t> keep_ns = {})
      : path(std::move(log)), engine(std::move(version)) {
    input.open = [this]() -> Result<std::unique_ptr<OpSource>> {
      ++passes;
      return OpenLog(path);
    };
    GapAnalysis analysis;
    SessionNotes notes;
    ReplayOptions options = Options();
    options.session.all.size = size;
    const TriedReplay own = Run(options, {}, &analysis, &notes);
    const GapReport report = analysis.Finish(own.totals);
    for (const BufferOutcome& buffer : own.outcome.buffers) {
      input.facts.buffers[buffer.id] = {buffer.size, buffer.policy, buffer.index};
      text += fmt::format("buffers {{ size_kb: {} fill_policy: {} {}}}\n", size / 1024,
                          buffer.policy == FillPolicy::kDiscard ? "DISCARD" : "RING_BUFFER",
                          engine.starts_with("v2") ? "experimental_mode: TRACE_BUFFER_V2 " : "");
    }
    list = FindRemedies(
        {report, own.outcome, notes, ReadTraceConfigFacts(wire::AsBytes(Config({})))}, keep_ns);
    Try();
  }

  void Try() {
    const RemedyConfig config{
        .facts = ReadTraceConfigFacts(wire::AsBytes(Config({}))),
        .with = [this](const std::vector<ConfigChange>& changes) -> Result<std::string> {
          return Config(changes);
        }};
    const Status tried = TryRemedies(input, Options(), config, list);
    EXPECT_TRUE(tried) << tried.error().ToString();
  }
  std::string Config(const std::vector<ConfigChange>& changes) const {
    return descriptors::Encode("TraceConfig", ChangedConfig(text, changes), "").value();
  }
  ReplayOptions Options() const {
    ReplayOptions options;
    options.session.all.engine = engine;
    options.reads.mode = ReadsMode::kEnd;
    return options;
  }
  TriedReplay Run(ReplayOptions options, const std::string& config, GapAnalysis* analysis = nullptr,
                  SessionNotes* notes = nullptr) const {
    LedgerSink ignored;
    Ledger ledger(analysis != nullptr ? static_cast<LedgerSink&>(*analysis) : ignored);
    std::vector<ReplayListener*> listeners = {&ledger};
    if (analysis != nullptr) listeners.insert(listeners.end(), {analysis, notes});
    options.is_reconfigured = !config.empty();
    CountedReplay replay(std::move(options), std::move(listeners));
    ConfiguredOps ops(OpenLog(path).value(), SessionConfig{.config = config});
    while (const auto op = ops.Next().value()) EXPECT_TRUE(replay.Apply(*op));
    TriedReplay run{.totals = {}, .outcome = replay.Finish().value()};
    run.totals = ledger.totals();
    return run;
  }
  /// A replay with the changes alone, of another program than the one that tried them.
  TriedReplay With(const Remedy& remedy, const std::vector<ConfigChange>& changes) const {
    ReplayOptions options = Options();
    if (remedy.As<ReadPeriodRemedy>()) options.reads = {ReadsMode::kStreamed, 0, {}};
    return Run(std::move(options), Config(changes));
  }

  const std::string path;
  const std::string engine;
  std::string text;
  SweepInput input;
  size_t passes = 0;  // over the records, for the remedies
  RemedyList list;
};

class RemediesTest : public ::testing::TestWithParam<std::string> {
 protected:
  /// @return how many were checked
  static size_t Check(const RemedyRun& run) {
    size_t checked = 0;
    for (const Remedy& remedy : run.list.remedies) {
      if (!remedy.outcome) continue;
      SCOPED_TRACE(remedy.kind());
      const TriedReplay exact = run.With(remedy, remedy.changes);
      if (remedy.buffer) {
        EXPECT_EQ(remedy.outcome->lost, exact.totals.at(*remedy.buffer).lost().packets);
        EXPECT_EQ(remedy.outcome->full, exact.full(*remedy.buffer));
      } else {
        EXPECT_EQ(remedy.outcome->lost, exact.lost());
      }
      EXPECT_GT(remedy.outcome->in_trace, remedy.now.in_trace);
      ++checked;
      const auto* const size = remedy.As<SizeRemedy>();
      if (size == nullptr || size->keep_ns || size->least_size == kPageBytes) continue;
      EXPECT_EQ(remedy.outcome->full, 0u);
      // A page less is too little.
      std::vector<ConfigChange> less = remedy.changes;
      less.front().value = std::to_string((size->least_size - kPageBytes) / 1024);
      EXPECT_GT(run.With(remedy, less).full(*remedy.buffer), 0u);
    }
    if (!run.list.together) return checked;
    EXPECT_EQ(run.list.together->lost, run.With({}, run.list.changes).lost());
    return checked;
  }
};

INSTANTIATE_TEST_SUITE_P(Captures, RemediesTest, testing::AllCaptures(),
                         testing::NameOfParam<std::string>);

TEST_P(RemediesTest, GiveWhatAReplayOfTheirConfigGives) {
  for (const std::string engine : {"v1", "v2@58"}) {
    SCOPED_TRACE(engine);
    const RemedyRun run(testing::CapturePath(GetParam()), engine, 64 << 10);
    EXPECT_GT(Check(run), 0u);
  }
}

// A ring's size is found by arithmetic; the replays that confirm it go through the records
// together.
TEST_P(RemediesTest, TakeFewPassesForRings) {
  for (const std::string engine : {"v1", "v2@58"}) {
    for (const uint64_t keep_ms : {0, 200, 1000}) {
      SCOPED_TRACE(fmt::format("{}, {} ms", engine, keep_ms));
      std::optional<uint64_t> keep_ns;
      if (keep_ms > 0) keep_ns = keep_ms * 1'000'000;
      const RemedyRun run(testing::CapturePath(GetParam()), engine, 128 << 10, keep_ns);
      Check(run);
      const bool has_rings = std::ranges::all_of(run.input.facts.buffers, [](const auto& buffer) {
        return buffer.second.policy == FillPolicy::kRingBuffer;
      });
      EXPECT_LE(run.passes, has_rings ? 3u : 19u);
    }
  }
}

TEST_P(RemediesTest, KeepAHistory) {
  constexpr uint64_t kKeepNs = 200'000'000;
  const RemedyRun run(testing::CapturePath(GetParam()), "v2@58", 64 << 10, kKeepNs);
  Check(run);
  for (const Remedy& remedy : run.list.remedies) {
    if (remedy.As<SizeRemedy>() && remedy.outcome && remedy.outcome->full > 0) {
      EXPECT_GE(remedy.reach_ns, kKeepNs);
    }
  }
}

// No replay of gaps, doctor or advise takes much more memory than the session itself.
TEST(Remedies, OfLargeSizesAreEstimates) {
  RemedyRun run(testing::CapturePath("ring-v2"), "v2@58", 64 << 10);
  const auto size = std::ranges::find_if(run.list.remedies,
                                         [](const Remedy& one) { return one.As<SizeRemedy>(); });
  ASSERT_NE(size, run.list.remedies.end());
  EXPECT_FALSE(size->is_estimate());
  run.input.memory_limit = 128 << 10;
  Remedy again = *size;
  again.outcome.reset();
  run.list.remedies = {again};
  run.Try();
  ASSERT_EQ(run.list.remedies.size(), 1u);
  EXPECT_TRUE(run.list.remedies.front().is_estimate());
  EXPECT_FALSE(run.list.remedies.front().outcome);
  EXPECT_EQ(run.list.remedies.front().changes.front().value,
            std::to_string(RecommendedSize(again.size) / 1024));
}

// Streams that make engines do whatever they can.
TEST(Remedies, OfConformanceCasesGiveWhatAReplayGives) {
  constexpr size_t kStep = 20;  // every so manieth case
  const std::vector<std::string> paths = testing::ListTestdata("conformance/cases", ".zst");
  for (size_t i = 0; i < paths.size(); i += kStep) {
    SCOPED_TRACE(paths[i]);
    const RemedyRun run(testing::TestdataPath(paths[i]).string(), "v2@58", 4096);
    for (const Remedy& remedy : run.list.remedies)
      if (remedy.As<SizeRemedy>() && remedy.outcome) {
        EXPECT_EQ(remedy.outcome->lost,
                  run.With(remedy, remedy.changes).totals.at(*remedy.buffer).lost().packets);
      }
  }
}

}  // namespace
}  // namespace ringscope
