// Differences of two engines over streams, and the rules that explain them.

#include "core/compare/fuzz_run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/testing/altered_engine.h"
#include "core/testing/chunk_dsl.h"
#include "core/testing/loss_faults.h"
#include "core/testing/quiet_engine.h"

namespace ringscope {
namespace {

using testing::Chunk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using StepKind = StreamStep::Kind;

const EngineInfo& Find(const char* name) { return *FindEngine(name).value(); }

using Ops = std::vector<StoredOp>;

Ops StreamOf(std::initializer_list<Chunk> chunks) {
  Ops ops = {SetUpOf(4096, FillPolicy::kRingBuffer)};
  for (const Chunk& chunk : chunks) ops.push_back(OpOf({.commit = chunk.commit()}));
  return ops;
}
Ops& Read(Ops& ops) {
  ops.push_back(OpOf({.kind = StepKind::kRead}));
  return ops;
}

std::optional<FuzzFinding> Compare(const char* a, const char* b, const Ops& ops,
                                   const Ignored& ignored = {}) {
  return CompareOver({SideOf(Find(a)), SideOf(Find(b))}, ignored, ops);
}

FuzzPlan PlanOf(const char* a, const char* b) {
  FuzzPlan plan;
  plan.sides = {SideOf(Find(a)), SideOf(Find(b))};
  plan.kinds = {StreamKind::kCorrect, StreamKind::kHostile, StreamKind::kClones,
                StreamKind::kWrapIds, StreamKind::kReadLimits};
  return plan;
}

enum class Fault { kNone, kContent, kIdentity, kMissing, kPatch, kNoPlace, kCheck, kFailure };

/// v2@58 with a fault.
class FaultyEngine : public testing::AlteredEngine {
 public:
  FaultyEngine(std::unique_ptr<Engine> engine, Fault fault)
      : AlteredEngine(std::move(engine), [this](Packet& packet) { Change(packet); }),
        fault_(fault) {}
  void Commit(const ChunkCommit& commit) override {
    AlteredEngine::Commit(commit);
    if (fault_ == Fault::kFailure) SetFailure({ErrorCode::kIo, "it is gone 17", {}, {}});
  }
  bool ApplyPatches(const ChunkPatches& patches) override {
    return AlteredEngine::ApplyPatches(patches) && fault_ != Fault::kPatch;
  }
  const Packet* NextPacket() override {
    const Packet* const packet = AlteredEngine::NextPacket();
    return fault_ == Fault::kMissing && packet != nullptr ? AlteredEngine::NextPacket() : packet;
  }
  std::string CheckInvariants() const override {
    return fault_ == Fault::kCheck ? "chunk 17 is nowhere" : "";
  }

 private:
  void Change(Packet& packet) {
    if (fault_ == Fault::kIdentity) ++packet.identity.uid;
    if (fault_ == Fault::kNoPlace) packet.place = kUnknownPlace;
    if (fault_ != Fault::kContent) return;
    bytes_.assign(packet.size, 'X');
    slice_ = wire::AsBytes(bytes_);
    packet.slices = {&slice_, 1};
  }

  const Fault fault_;
  std::string bytes_;
  Bytes slice_;
};

std::optional<FuzzFinding> CompareFault(Fault fault, const Ops& ops) {
  EngineInfo changed = Find("v2@58");
  changed.name = "./changed.so";
  changed.create = [fault](const EngineConfig& config) -> Result<std::unique_ptr<Engine>> {
    RS_ASSIGN_OR_RETURN(auto engine, Find("v2@58").create(config));
    return std::make_unique<FaultyEngine>(std::move(engine), fault);
  };
  return CompareOver({SideOf(Find("v2@58")), SideOf(changed)}, {}, ops);
}

TEST(FuzzRun, EachFault_IsOfItsClass) {
  Ops ops = StreamOf({Chunk(1, 1, 0).Whole(20, 'a').Whole(20, 'b')});
  const std::string bytes = "wxyz";
  const Patch patch{.offset = 2, .data = reinterpret_cast<const uint8_t*>(bytes.data())};
  ops.push_back(
      OpOf({.kind = StepKind::kPatch,
            .patches = {.sequence = {ProducerId{1}, WriterId{1}}, .patches = {&patch, 1}}}));
  Read(ops);
  EXPECT_FALSE(CompareFault(Fault::kNone, ops));
  EXPECT_FALSE(CompareFault(Fault::kNoPlace, ops)) << "a place that is not reported";
  const std::pair<Fault, const char*> expected[] = {
      {Fault::kContent, "content"},
      {Fault::kIdentity, "identity"},
      {Fault::kMissing, "only_in_a not_found"},
      {Fault::kPatch, "patch by A"},
      {Fault::kCheck, "check of B: chunk  is nowhere"},
      {Fault::kFailure, "failure of B: buffer : it is gone "}};
  for (const auto& [fault, its_class] : expected) {
    const auto found = CompareFault(fault, ops);
    ASSERT_TRUE(found) << its_class;
    EXPECT_EQ(found->sort, its_class);
  }
  EXPECT_EQ(CompareFault(Fault::kPatch, ops)->record, 2u);
  EXPECT_EQ(CompareFault(Fault::kMissing, ops)->record, 3u);
}

TEST(FuzzRun, Ignored_DoesNotCount) {
  // v56 reports 1 where v57 reports the cause.
  Ops ops = StreamOf({Chunk(1, 1, 0).Ends(8, 'a').Whole(8, 'b')});
  const auto bits = Compare("v2@56", "v2@57", Read(ops));
  ASSERT_TRUE(bits);
  EXPECT_EQ(bits->sort, "loss_bits present/orphan_continuation");
  Ignored ignored;
  ignored.kinds[DifferenceKind::kLossBits] = true;
  EXPECT_FALSE(Compare("v2@56", "v2@57", ops, ignored));

  const Ops aborted = StreamOf({Chunk(1, 1, 0).Aborted()});
  const auto counter = Compare("v2@57", "v2@58", aborted);
  ASSERT_TRUE(counter);
  EXPECT_EQ(counter->sort, "counter abi_violations falls");
  for (size_t i = 0; i < kStatFields.size(); ++i)
    ignored.counters[i] = kStatFields[i].value == &BufferStats::abi_violations;
  EXPECT_FALSE(Compare("v2@57", "v2@58", aborted, ignored));
}

// V1 reads sequence by sequence: each sequence is compared alone.
TEST(FuzzRun, OtherReadOrder_IsNoDifference) {
  Ops ops = StreamOf({Chunk(1, 2, 0).Whole(20, 'a'), Chunk(1, 1, 0).Whole(20, 'b')});
  Ignored ignored;
  ignored.kinds[DifferenceKind::kLossBits] = true;
  ignored.kinds[DifferenceKind::kCounter] = true;
  EXPECT_FALSE(Compare("v1", "v2@58", Read(ops), ignored));
}

TEST(RuleSwitch, Names) {
  EXPECT_EQ(FullName(*ParseV2Rule("v2@58:relocates").value()), "v2@58:relocates_completed_chunk");
  EXPECT_EQ(FullName(*ParseV2Rule("recommit").value()), "v2@56:recommit_before_evict");
  EXPECT_EQ(FullName(*ParseV2Rule("readmits_grown_chunk").value()), "v2@55:readmits_grown_chunk");
  EXPECT_EQ(ParseV2Rule("v2@56:re").error().message, "'v2@56:re' is the start of several rules");
  EXPECT_EQ(ParseV2Rule("nothing").error().message, "there is no rule 'nothing'");
  EXPECT_FALSE(ParseV2Rule(""));
}

// Without all differences between two releases, they are one: and with any of them, they are not.
TEST(RuleSwitch, ReleasesDifferByTheirRulesAlone) {
  for (uint32_t release = kFirstV2Release + 1; release <= kNewestRelease; ++release) {
    FuzzPlan plan =
        PlanOf(fmt::format("v2@{}", release - 1).c_str(), fmt::format("v2@{}", release).c_str());
    const auto rules = RulesBetween(plan.sides);
    ASSERT_FALSE(rules.empty());
    std::set<std::string> found;
    for (uint32_t seed = 0; seed < 300; ++seed)
      for (const FuzzFinding& finding : FuzzSeed(plan, seed)) found.insert(finding.Cause());
    std::set<std::string> expected;
    for (const NamedRule* const rule : rules) expected.insert(FullName(*rule));
    for (const std::string& name : expected) EXPECT_TRUE(found.contains(name)) << name;
    for (const std::string& cause : found) EXPECT_TRUE(expected.contains(cause)) << cause;
    plan.sides = Without(plan.sides, rules);
    for (uint32_t seed = 0; seed < 50; ++seed) EXPECT_TRUE(FuzzSeed(plan, seed).empty());
  }
}

/// The steps of a seed's stream by kind of record.
std::map<size_t, size_t> KindsOf(const Ops& ops) {
  std::map<size_t, size_t> kinds;
  for (const StoredOp& op : ops) ++kinds[op.op().body.index()];
  return kinds;
}

TEST(FuzzRun, EachKind_IsWhatItIsCalled) {
  FuzzPlan plan = PlanOf("v2@58", "v2@58");
  plan.kinds = {StreamKind::kClones};
  size_t clones = 0;
  for (const StoredOp& op : StreamOfSeed(plan, 1))
    clones += std::holds_alternative<CloneRead>(op.op().body);
  EXPECT_GT(clones, 8u);
  plan.kinds = {StreamKind::kReadLimits};
  const Ops limited = StreamOfSeed(plan, 1);
  for (size_t i = 0; i + 1 < limited.size(); ++i) {
    if (const auto* read = std::get_if<ReadPass>(&limited[i].op().body)) {
      EXPECT_LT(read->max_packets.value_or(UINT64_MAX), 6u);
    }
  }
  EXPECT_EQ(KindsOf(limited), KindsOf(StreamOfSeed(plan, 1))) << "the same seed, the same stream";
  plan.kinds = {StreamKind::kForgetting};
  EXPECT_EQ(StreamOfSeed(plan, 1).size(), 2 + 20u * 150);
}

TEST(FuzzRun, Smallest_HasTheFewestAndSmallest) {
  const FuzzPlan plan = PlanOf("v2@57", "v2@58");
  std::map<std::string, size_t> operations;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    for (const FuzzFinding& finding : FuzzSeed(plan, seed)) {
      if (operations.contains(finding.Cause())) continue;
      const auto& [less, shown, is_of_plan_sides] =
          Smallest(plan, finding, StreamOfSeed(plan, seed), {});
      operations[finding.Cause()] = less.size() - 1;
      EXPECT_TRUE(is_of_plan_sides);
      EXPECT_EQ(shown.Cause(), finding.Cause());
      EXPECT_EQ(std::get<BufferSetUp>(less.front().op().body).size, 4096u);
      for (size_t i = 1; i < less.size(); ++i) {
        const auto& commit = std::get<Commit>(less[i].op().body);
        EXPECT_EQ(commit.producer, ProducerId{1});
        EXPECT_LE(commit.request.size(), 40u);
      }
    }
  }
  EXPECT_EQ(operations["v2@58:allows_writer_drop"], 1u);
  EXPECT_EQ(operations["v2@58:relocates_completed_chunk"], 2u);
}

// A plug-in that watches a buffer from outside cannot report what a read abandons: that is unknown,
// and no finding.
TEST(Accounts, WhatAnEngineDoesNotReport_IsNoFinding) {
  const FuzzPlan plan = PlanOf("v2@58", "v2@58");
  const FuzzSide quiet = SideOf(testing::QuietEngineInfo());
  for (uint32_t seed = 0; seed < 60; ++seed) {
    EXPECT_EQ(CheckAccounts(quiet.info, StreamOfSeed(plan, seed)).value(), "") << seed;
  }
}

// An engine that reports no events, though it should, leaves the ledger with open accounts.
TEST(Accounts, MissingEvents_AreFound) {
  Ops ops = StreamOf({});
  for (uint32_t i = 0; i < 20; ++i)
    ops.push_back(OpOf({.commit = Chunk(1, 1, i).Whole(1000, 'a').commit()}));
  FuzzSide changed = SideOf(Find("v2@58"));
  EXPECT_EQ(CheckAccounts(changed.info, ops).value(), "");
  changed.info.create = [](EngineConfig config) -> Result<std::unique_ptr<Engine>> {
    config.observer = nullptr;
    return Find("v2@58").create(config);
  };
  EXPECT_NE(CheckAccounts(changed.info, ops).value(), "");

  FuzzPlan plan = PlanOf("v2@58", "v2@58");
  plan.sides.a = changed;
  const auto findings = FuzzSeed(plan, 0);  // each 16th goes through the ledger
  const auto found = std::ranges::find(findings, Oracle::kLedger, &FuzzFinding::oracle);
  ASSERT_NE(found, findings.end());
  EXPECT_EQ(found->side, Side::kA);
  const SmallestStream smallest = Smallest(plan, *found, StreamOfSeed(plan, 0), {});
  EXPECT_EQ(smallest.finding.sort, found->sort);
  EXPECT_LT(smallest.ops.size(), StreamOfSeed(plan, 0).size());
}

// What is found of losses, on streams of one writer.

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
  std::vector<std::string> FaultsOf(EngineInfo engine) const {
    return testing::FaultsOf(SideOf(engine).info, stream_);
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

// Random streams of correct writers find those that are known, and no account stays open.
TEST(LossCheck, RandomStreams_FindThem) {
  FuzzPlan plan = PlanOf("v2@58", "v2@58");
  plan.kinds = {StreamKind::kCorrect};
  std::set<std::string> faults;
  for (uint32_t seed = 0; seed < 80; ++seed)
    for (const std::string& fault : testing::FaultsOf(plan.sides.a.info, StreamOfSeed(plan, seed)))
      faults.insert(fault);
  EXPECT_TRUE(faults.contains("silent_loss already_consumed"));
  EXPECT_TRUE(faults.contains("false_sign read_gap"));
  for (uint32_t seed = 0; seed < 20; ++seed) EXPECT_THAT(FuzzSeed(plan, seed), IsEmpty());
}

}  // namespace
}  // namespace ringscope
