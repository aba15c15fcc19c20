// What is found of losses, on streams of one writer.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/compare/fuzz_run.h"
#include "core/testing/altered_engine.h"
#include "core/testing/chunk_dsl.h"

namespace ringscope {
namespace {

using testing::Chunk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A buffer's stream in the making.
class OneWriter {
 public:
  OneWriter& Commit(const Chunk& chunk) {
    stream_.push_back(OpOf({.commit = chunk.commit()}));
    return *this;
  }
  OneWriter& Read() {
    stream_.push_back(OpOf({.kind = StreamStep::Kind::kRead}));
    return *this;
  }
  /// "silent_loss evicted", for each fault of the engine.
  std::vector<std::string> FaultsOf(EngineInfo engine) const {
    std::vector<std::string> faults;
    const FuzzSide side = SideOf(engine);
    const auto accounts = CheckAccounts(side.info, OptionsOf(side), stream_);
    for (const FoundFault& fault : accounts.value().faults)
      faults.push_back(fmt::format("{} {}", Name(fault.fault), fault.kind));
    return faults;
  }
  std::vector<std::string> FaultsOf(const char* engine) const {
    return FaultsOf(*FindEngine(engine).value());
  }

 private:
  std::vector<StoredOp> stream_ = {SetUpOf(4096, FillPolicy::kRingBuffer)};
};

Chunk At(uint32_t id) { return Chunk(1, 1, id); }

EngineInfo Changed(testing::AlteredEngine::Change change) {
  EngineInfo info = *FindEngine("v2@58").value();
  info.create = [change](const EngineConfig& config) -> Result<std::unique_ptr<Engine>> {
    RS_ASSIGN_OR_RETURN(auto engine, FindEngine("v2@58").value()->create(config));
    return std::make_unique<testing::AlteredEngine>(std::move(engine), change);
  };
  return info;
}

TEST(LossCheck, NothingIsWrong_WhereAllIsRight) {
  OneWriter all;
  all.Commit(At(0).Whole(20, 'a').Begins(30, 'b')).Read();
  all.Commit(At(1).Ends(30, 'b').Whole(5, 'c')).Commit(At(3).Whole(5, 'd')).Read();
  EXPECT_THAT(all.FaultsOf("v2@58"), IsEmpty());
}

// [ c0 ] gap [ c2: a-> ][ c3: ->a ], with c0 last.
TEST(LossCheck, PacketThatIsLostWhole) {
  OneWriter late;
  late.Commit(At(2).Begins(20, 'a')).Commit(At(3).Ends(20, 'a')).Commit(At(0).Whole(9, 'b'));
  late.Read();
  EXPECT_THAT(late.FaultsOf("v2@58"), ElementsAre("lost_whole read_gap"));
}

// Chunk 1 is missing, and no packet shows it: an engine without any signs.
TEST(LossCheck, LossWithoutASign) {
  OneWriter gap;
  gap.Commit(At(0).Whole(9, 'a')).Read().Commit(At(2).Whole(9, 'b')).Read();
  EXPECT_THAT(gap.FaultsOf("v2@58"), IsEmpty());
  const EngineInfo mute = Changed([](Packet& packet) { packet.dropped = 0; });
  EXPECT_THAT(gap.FaultsOf(mute), ElementsAre("silent_loss never_committed"));

  OneWriter overwritten;
  for (uint32_t i = 0; i < 3; ++i) overwritten.Commit(At(i).Whole(1800, 'a'));
  EXPECT_THAT(overwritten.FaultsOf("v2@58"), IsEmpty());
  EXPECT_THAT(overwritten.FaultsOf(mute), ElementsAre("silent_loss evicted"));
}

TEST(LossCheck, SignWithoutALoss) {
  OneWriter all;
  all.Commit(At(0).Whole(9, 'a')).Commit(At(1).Whole(9, 'b')).Read();
  const EngineInfo loud =
      Changed([](Packet& packet) { packet.dropped = kLossPresent | kLossReadGap; });
  EXPECT_THAT(all.FaultsOf(loud), ElementsAre("false_sign read_gap"));
}

// What becomes of chunks that break the rules is for no buffer to get right.
TEST(LossCheck, WritersThatBreakRules_AreLeftOut) {
  const EngineInfo mute = Changed([](Packet& packet) { packet.dropped = 0; });
  for (const bool breaks : {false, true}) {
    OneWriter stream;
    stream.Commit(At(0).Whole(9, 'a')).Read().Commit(At(2).Whole(9, 'b')).Read();
    // A complete chunk is not committed again; a packet that continues is continued.
    if (breaks) stream.Commit(At(3).Begins(9, 'c')).Commit(At(4).Whole(9, 'd'));
    EXPECT_EQ(stream.FaultsOf(mute).size(), breaks ? 0u : 1u);
  }
}

// Random streams find them, and are made as small as they can be.
TEST(LossCheck, RandomStreams_FindThem) {
  FuzzPlan plan;
  for (const Side side : kSides) plan.sides[side] = SideOf(*FindEngine("v2@58").value());
  plan.kinds = {StreamKind::kCorrect};
  plan.checks_losses = true;
  std::map<std::string, size_t> operations;
  for (uint32_t seed = 0; seed < 80; ++seed) {
    for (const FuzzFinding& finding : FuzzSeed(plan, seed)) {
      if (operations.contains(finding.Cause())) continue;
      const SmallestStream less = Smallest(plan, finding, StreamOfSeed(plan, seed), {});
      EXPECT_THAT(less.finding.text, ::testing::StartsWith("v2@58: "));
      operations[finding.Cause()] = less.ops.size() - 1;
    }
  }
  EXPECT_EQ(operations["losses of A: silent_loss (already_consumed)"], 4u);
  EXPECT_EQ(operations["losses of A: false_sign (read_gap)"], 4u);
  plan.checks_losses = false;
  for (uint32_t seed = 0; seed < 20; ++seed) EXPECT_THAT(FuzzSeed(plan, seed), IsEmpty());
}

}  // namespace
}  // namespace ringscope
