// What a sweep's rows show of lost and waiting packets is what the accounts of a replay show.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/engine/catalogue.h"
#include "core/session/counted_replay.h"
#include "core/sweep/needed_sizes.h"
#include "core/sweep/sweep_run.h"
#include "core/testing/ops_in_memory.h"
#include "core/testing/replays_in_turn.h"
#include "formats/inputs/open_log.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

Result<std::map<BufferId, LedgerTotals>> TotalsWith(const SweepInput& input, ReplayOptions config) {
  config.session.find_engine = FindEngine;
  LedgerSink nowhere;
  Ledger ledger(nowhere);
  CountedReplay replay(std::move(config), {&ledger});
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OpSource> ops, input.open());
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, ops->Next());
    if (!op) break;
    RS_RETURN_IF_ERROR(replay.Apply(*op));
  }
  RS_RETURN_IF_ERROR(replay.Finish());
  return ledger.totals();
}

void ExpectSameOutcomes(const std::string& path) {
  const auto file = OpenLog(path);
  ASSERT_TRUE(file) << file.error().ToString();
  const auto log = testing::LogInMemory::Read(**file);
  ASSERT_TRUE(log) << log.error().ToString();
  SweepInput input;
  input.open = [&]() -> Result<std::unique_ptr<OpSource>> { return log->Open(); };
  input.find_engine = FindEngine;
  input.run_replays = [](const std::vector<SweepReplay*>& replays) {
    return std::make_unique<ReplaysInTurn>(replays);
  };
  input.warn = [](const std::string&) {};
  for (const uint64_t own_size : {uint64_t{4096}, uint64_t{64} << 10}) {
    ReplayOptions config;
    config.session.all.engine = "v2@58";
    config.session.all.size = own_size;
    const auto totals = TotalsWith(input, config);
    if (!totals) continue;  // a size that this log cannot have
    const OwnAccounts own{*totals, config.reads};
    for (const uint64_t size : {uint64_t{32} << 10, uint64_t{4} << 20}) {
      for (const ReadsMode reads : {ReadsMode::kAuto, ReadsMode::kEvery}) {
        SCOPED_TRACE(fmt::format("own {} tried {} {}", own_size, size, Name(reads)));
        ReplayOptions tried = config;
        tried.session.all.size = size;
        tried.reads = {reads, reads == ReadsMode::kEvery ? uint64_t{1'000'000} : 0, {}};
        const auto result = RunSweep(input, {tried});
        ASSERT_TRUE(result) << result.error().ToString();
        const auto outcomes = OutcomesOf(input, tried, result->rows.front(), own);
        ASSERT_TRUE(outcomes) << outcomes.error().ToString();
        const auto exact = TotalsWith(input, tried);
        ASSERT_TRUE(exact) << exact.error().ToString();
        for (const auto& [id, accounts] : *exact) {
          ASSERT_TRUE(outcomes->contains(id)) << "buffer " << Raw(id);
          const TriedOutcome got = outcomes->at(id);
          EXPECT_EQ(
              fmt::format("{} {} {}", got.lost, got.full, got.waiting),
              fmt::format("{} {} {}", accounts.lost().packets,
                          accounts[Fate::kOverwritten].packets + accounts[Fate::kDiscarded].packets,
                          accounts[Fate::kStalled].packets))
              << "buffer " << Raw(id);
        }
      }
    }
  }
}

TEST(TriedOutcomes, OfConformanceCases_AreThoseOfTheAccounts) {
  size_t cases = 0;
  for (const std::string& name : testing::ListTestdata("conformance/cases", ".jsonl.zst")) {
    SCOPED_TRACE(name);
    ExpectSameOutcomes(testing::TestdataPath(name).string());
    ++cases;
  }
  EXPECT_GT(cases, 300u);
}

TEST(TriedOutcomes, OfCaptures_AreThoseOfTheAccounts) {
  for (const char* name : {"ring-v2", "discard-v2", "two-buffers-v2"}) {
    SCOPED_TRACE(name);
    ExpectSameOutcomes(
        testing::TestdataPath(std::string("captures/") + name + "/session.ops.jsonl.zst").string());
  }
}

}  // namespace
}  // namespace ringscope
