// The ledger over random streams, through all engines: fates add up whatever writers do, and of
// correct writers it finds just the packets that they wrote.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "core/compare/fuzz_run.h"
#include "core/engine/catalogue.h"
#include "core/ledger/ledger.h"
#include "core/testing/written_stream.h"

namespace ringscope {
namespace {

using Place = std::tuple<SequenceKey, uint32_t, uint32_t>;  // first chunk, offset

class AccountBook : public LedgerSink {
 public:
  void OnPacketFate(const PacketAccount& account) override {
    accounts[{account.sequence, static_cast<uint32_t>(account.first_chunk), account.first_offset}]
        .push_back(account);
    ++fates[account.fate];
  }
  std::map<Place, std::vector<PacketAccount>> accounts;
  std::map<Fate, uint64_t> fates;
};

/// A stream's steps through one engine, and which chunks were committed whole.
class StreamRun {
 public:
  StreamRun(const EngineInfo& info, const RandomStream& stream)
      : side_(SideOf(info)), ledger_(book_), replay_(AsRecorded(side_), ledger_) {
    Apply(SetUpOf(stream.traits().size, stream.traits().policy));
  }

  void Apply(const RandomStream::Step& step) {
    Apply(OpOf(step));
    if (step.kind == RandomStream::Kind::kCommit && step.commit.complete)
      committed_.insert({step.commit.sequence, Raw(step.commit.chunk)});
  }
  void Finish() {
    ASSERT_TRUE(replay_.Finish());
    ASSERT_TRUE(replay_.Drain());
  }

  const AccountBook& book() const { return book_; }
  const Ledger& ledger() const { return ledger_; }
  bool committed(SequenceKey sequence, uint32_t first, uint32_t last) const {
    for (uint32_t id = first;; ++id) {
      if (!committed_.contains({sequence, id})) return false;
      if (id == last) return true;
    }
  }

 private:
  static ReplayOptions AsRecorded(const FuzzSide& side) {
    ReplayOptions options = OptionsOf(side.info);
    options.plain_streams_as_recorded = true;
    return options;
  }
  void Apply(const StoredOp& op) { ASSERT_TRUE(replay_.Apply(op.op())); }

  const FuzzSide side_;
  AccountBook book_;
  Ledger ledger_;
  Replay replay_;
  std::set<std::pair<SequenceKey, uint32_t>> committed_;
};

class LedgerRandomTest : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Engines, LedgerRandomTest,
                         ::testing::Values("v1", "v2@54", "v2@55", "v2@56", "v2@57", "v2@58"),
                         [](const auto& test) { return testing::TestNameOf(test.param); });

constexpr int kSteps = 400;

TEST_P(LedgerRandomTest, HostileStreamsAddUp) {
  for (uint32_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream stream(seed, Conduct::kHostile);
    StreamRun run(*FindEngine(GetParam()).value(), stream);
    for (int i = 0; i < kSteps; ++i) run.Apply(stream.Next());
    run.Finish();
    ASSERT_EQ(run.ledger().Check(), "");
    ASSERT_EQ(run.book().fates.count(Fate::kUnexplained), 0u);
  }
}

TEST_P(LedgerRandomTest, CorrectWritersPacketsAreFoundOnce) {
  uint64_t found = 0;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    testing::WrittenStream stream(seed, Conduct::kCorrect);
    StreamRun run(*FindEngine(GetParam()).value(), stream);
    for (int i = 0; i < kSteps; ++i) run.Apply(stream.Next());
    while (const auto step = stream.NextToFinish()) run.Apply(*step);
    run.Finish();
    ASSERT_EQ(run.ledger().Check(), "");
    ASSERT_EQ(run.book().fates.count(Fate::kUnexplained), 0u);
    ASSERT_EQ(run.book().fates.count(Fate::kCorrupted), 0u);
    for (const auto& [key, sequence] : stream.written()) {
      for (const auto& [at, packet] : sequence.packets) {
        const uint32_t first = Raw(sequence.first_chunk) + at.first;
        if (!run.committed(key, first, Raw(packet.last_chunk))) continue;
        const auto account = run.book().accounts.find({key, first, at.second});
        ASSERT_NE(account, run.book().accounts.end())
            << Raw(key.producer) << ":" << Raw(key.writer) << "#" << first << "+" << at.second;
        ASSERT_EQ(account->second.size(), 1u);
        EXPECT_NE(account->second[0].cause, Cause::kNeverCommitted);
        ++found;
        // V1 may join a packet's beginning with another one's end.
        const Fate fate = account->second[0].fate;
        const bool joined_by_v1 =
            GetParam() == std::string_view("v1") && (fate == Fate::kRead || fate == Fate::kInvalid);
        if (joined_by_v1) continue;
        EXPECT_EQ(account->second[0].size, packet.content.size())
            << Raw(key.producer) << ":" << Raw(key.writer) << "#" << first << "+" << at.second;
        EXPECT_EQ(static_cast<uint32_t>(account->second[0].last_chunk), Raw(packet.last_chunk));
      }
    }
  }
  EXPECT_GT(found, 10'000u);
}

}  // namespace
}  // namespace ringscope
