// What a duel of two engines notices, and what explains it.

#include "core/compare/duel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/compare/explain.h"
#include "core/compare/ledger_run.h"
#include "core/compare/payload_parts.h"
#include "core/compare/rule_switch.h"
#include "core/compare/shrink.h"
#include "core/testing/chunk_dsl.h"
#include "core/testing/quiet_engine.h"

namespace ringscope {
namespace {

using testing::Chunk;
using StepKind = StreamStep::Kind;

const EngineInfo& Find(const char* name) { return *FindEngine(name).value(); }

PlainStream StreamOf(std::initializer_list<Chunk> chunks) {
  PlainStream stream;
  for (const Chunk& chunk : chunks) stream.Add({.commit = chunk.commit()});
  return stream;
}
PlainStream& Read(PlainStream& stream) {
  stream.Add({.kind = StepKind::kRead});
  return stream;
}

std::optional<Mismatch> Fight(const char* a, const char* b, const PlainStream& stream,
                              const Ignored& ignored = {}) {
  return RunDuel({&Find(a), &Find(b)}, stream, ignored);
}

FuzzPlan PlanOf(const char* a, const char* b) {
  FuzzPlan plan;
  plan.sides = {SideOf(Find(a)), SideOf(Find(b))};
  plan.kinds = {StreamKind::kCorrect, StreamKind::kHostile, StreamKind::kClones,
                StreamKind::kWrapIds, StreamKind::kReadLimits};
  return plan;
}

/// An engine that changes what another one returns.
class ChangedEngine : public Engine {
 public:
  enum class Fault { kNone, kContent, kIdentity, kMissing, kTwice, kPatch, kCheck, kFailure };

  ChangedEngine(std::unique_ptr<Engine> engine, Fault fault)
      : engine_(std::move(engine)), fault_(fault) {}
  void Commit(const ChunkCommit& commit) override {
    engine_->Commit(commit);
    if (fault_ == Fault::kFailure) SetFailure({ErrorCode::kIo, "it is gone 17", {}, {}});
  }
  bool ApplyPatches(const ChunkPatches& patches) override {
    return engine_->ApplyPatches(patches) && fault_ != Fault::kPatch;
  }
  void BeginRead() override { engine_->BeginRead(); }
  const Packet* NextPacket() override {
    if (fault_ == Fault::kTwice && last_ != nullptr) return std::exchange(last_, nullptr);
    const Packet* packet = engine_->NextPacket();
    if (fault_ == Fault::kMissing && packet != nullptr) packet = engine_->NextPacket();
    if (packet == nullptr) return nullptr;
    changed_ = *packet;
    if (fault_ == Fault::kIdentity) ++changed_.identity.uid;
    if (fault_ == Fault::kContent) {
      bytes_.assign(changed_.size, 'X');
      slice_ = wire::AsBytes(bytes_);
      changed_.slices = {&slice_, 1};
    }
    return last_ = &changed_;
  }
  Result<std::unique_ptr<Engine>> Clone() const override { return engine_->Clone(); }
  const BufferStats& stats() const override { return engine_->stats(); }
  void VisitWriterStats(const std::function<void(const WriterStats&)>&) const override {}
  std::string CheckInvariants() const override {
    return fault_ == Fault::kCheck ? "chunk 17 is nowhere" : "";
  }

 private:
  std::unique_ptr<Engine> engine_;
  const Fault fault_;
  Packet changed_;
  const Packet* last_ = nullptr;
  std::string bytes_;
  Bytes slice_;
};

std::optional<Mismatch> FightFault(ChangedEngine::Fault fault, const PlainStream& stream) {
  EngineInfo changed = Find("v2@58");
  changed.name = "./changed.so";
  changed.create = [fault](const EngineConfig& config) -> Result<std::unique_ptr<Engine>> {
    RS_ASSIGN_OR_RETURN(auto engine, Find("v2@58").create(config));
    return std::make_unique<ChangedEngine>(std::move(engine), fault);
  };
  return RunDuel({&Find("v2@58"), &changed}, stream, {});
}

TEST(Duel, EachFault_IsOfItsClass) {
  using Fault = ChangedEngine::Fault;
  PlainStream stream = StreamOf({Chunk(1, 1, 0).Whole(20, 'a').Whole(20, 'b')});
  const std::string bytes = "wxyz";
  const Patch patch{.offset = 2, .data = reinterpret_cast<const uint8_t*>(bytes.data())};
  stream.Add({.kind = StepKind::kPatch,
              .patches = {.sequence = {ProducerId{1}, WriterId{1}}, .patches = {&patch, 1}}});
  Read(stream);
  EXPECT_FALSE(FightFault(Fault::kNone, stream));
  const std::pair<Fault, const char*> expected[] = {
      {Fault::kContent, "content"},
      {Fault::kIdentity, "identity"},
      {Fault::kMissing, "only_in_a"},
      {Fault::kTwice, "only_in_b"},
      {Fault::kPatch, "patch"},
      {Fault::kCheck, "check of B: ./changed.so: chunk  is nowhere"},
      {Fault::kFailure, "failure of B: ./changed.so: it is gone "}};
  for (const auto& [fault, mismatch_class] : expected) {
    const auto found = FightFault(fault, stream);
    ASSERT_TRUE(found) << mismatch_class;
    EXPECT_EQ(found->Class(), mismatch_class);
  }
  EXPECT_EQ(FightFault(Fault::kPatch, stream)->step, 1u);
  EXPECT_EQ(FightFault(Fault::kMissing, stream)->step, 2u);
}

TEST(Duel, Ignored_DoesNotCount) {
  // v56 reports 1 where v57 reports the cause.
  PlainStream stream = StreamOf({Chunk(1, 1, 0).Ends(8, 'a').Whole(8, 'b')});
  const auto bits = Fight("v2@56", "v2@57", Read(stream));
  ASSERT_TRUE(bits);
  EXPECT_EQ(bits->Class(), "loss_bits present/orphan_continuation");
  Ignored ignored;
  ignored.kinds[static_cast<size_t>(DifferenceKind::kLossBits)] = true;
  EXPECT_FALSE(Fight("v2@56", "v2@57", stream, ignored));

  const PlainStream aborted = StreamOf({Chunk(1, 1, 0).Aborted()});
  const auto counter = Fight("v2@57", "v2@58", aborted);
  ASSERT_TRUE(counter);
  EXPECT_EQ(counter->Class(), "counter abi_violations");
  ignored.counters[*counter->counter] = true;
  EXPECT_FALSE(Fight("v2@57", "v2@58", aborted, ignored));
}

// V1 reads sequence by sequence: what is compared is each sequence.
TEST(Duel, OtherReadOrder_IsNoDifference) {
  PlainStream stream = StreamOf({Chunk(1, 2, 0).Whole(20, 'a'), Chunk(1, 1, 0).Whole(20, 'b')});
  Ignored ignored;
  ignored.kinds[static_cast<size_t>(DifferenceKind::kLossBits)] = true;
  ignored.kinds[static_cast<size_t>(DifferenceKind::kCounter)] = true;
  EXPECT_FALSE(Fight("v1", "v2@58", Read(stream), ignored));
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
  for (size_t i = 1; i < kV2Releases.size(); ++i) {
    FuzzPlan plan = PlanOf(kV2Releases[i - 1].engine, kV2Releases[i].engine);
    const auto rules = RulesBetween(plan.sides);
    ASSERT_FALSE(rules.empty());
    std::set<std::string> found;
    for (uint32_t seed = 0; seed < 300; ++seed)
      for (const FuzzFinding& finding : FuzzSeed(plan, seed).findings) found.insert(finding.cause);
    std::set<std::string> expected;
    for (const NamedRule* const rule : rules) expected.insert(FullName(*rule));
    for (const std::string& name : expected) EXPECT_TRUE(found.contains(name)) << name;
    for (const std::string& cause : found)
      EXPECT_TRUE(expected.contains(cause) || cause.find(" or ") != std::string::npos) << cause;
    for (const NamedRule* const rule : rules) plan.sides = WithoutDifference(plan.sides, *rule);
    for (uint32_t seed = 0; seed < 50; ++seed) EXPECT_TRUE(FuzzSeed(plan, seed).findings.empty());
  }
}

TEST(FuzzRun, SameSeed_SameStream) {
  const FuzzPlan plan = PlanOf("v2@57", "v2@58");
  for (const uint32_t seed : {0u, 5u, 63u}) {
    const PlainStream x = StreamOfSeed(plan, seed), y = StreamOfSeed(plan, seed);
    ASSERT_EQ(x.steps.size(), y.steps.size());
    for (size_t i = 0; i < x.steps.size(); ++i) {
      EXPECT_EQ(x.steps[i]->payload, y.steps[i]->payload);
      EXPECT_EQ(x.steps[i]->step.commit.chunk, y.steps[i]->step.commit.chunk);
    }
  }
}

TEST(FuzzRun, EachKind_IsWhatItIsCalled) {
  FuzzPlan plan = PlanOf("v2@58", "v2@58");
  const auto reached = [&](StreamKind kind) {
    plan.kinds = {kind};
    FuzzCoverage coverage;
    for (uint32_t seed = 0; seed < 20; ++seed) coverage += FuzzSeed(plan, seed).coverage;
    return coverage.branches.a;
  };
  EXPECT_GT(reached(StreamKind::kHostile)[IndexOfBranch("discard.bad_recommit")], 0u);
  EXPECT_EQ(reached(StreamKind::kCorrect)[IndexOfBranch("discard.bad_recommit")], 0u);
  plan.kinds = {StreamKind::kClones};
  size_t clones = 0;
  for (const auto& step : StreamOfSeed(plan, 1).steps) clones += step->step.kind == StepKind::kClone;
  EXPECT_GT(clones, 8u);
  plan.kinds = {StreamKind::kReadLimits};
  for (const auto& step : StreamOfSeed(plan, 1).steps) {
    if (step->step.kind == StepKind::kRead) {
      EXPECT_LT(step->step.max_packets, 6u);
    }
  }
  plan.kinds = {StreamKind::kForgetting};
  std::set<SequenceKey> sequences;
  for (const auto& step : StreamOfSeed(plan, 1).steps) sequences.insert(step->step.commit.sequence);
  EXPECT_GT(sequences.size(), 1152u);
}

// A stream of a log, changed: the same engine on both sides sees nothing, two releases do.
TEST(FuzzRun, MutatedStreams) {
  FuzzPlan plan = PlanOf("v2@55", "v2@56");
  auto sources = std::make_shared<std::vector<PlainStream>>();
  for (uint32_t seed = 0; seed < 3; ++seed) sources->push_back(StreamOfSeed(plan, seed));
  plan.sources = sources;
  plan.kinds = {StreamKind::kMutated};
  size_t findings = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) findings += FuzzSeed(plan, seed).findings.size();
  EXPECT_GT(findings, 5u);
  plan.sides.b = plan.sides.a;
  for (uint32_t seed = 0; seed < 20; ++seed) EXPECT_TRUE(FuzzSeed(plan, seed).findings.empty());
}

TEST(Shrink, FindsTheFewestAndSmallest) {
  const FuzzPlan plan = PlanOf("v2@57", "v2@58");
  std::map<std::string, size_t> operations;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    for (const FuzzFinding& finding : FuzzSeed(plan, seed).findings) {
      if (operations.contains(finding.cause)) continue;
      const PlainStream less = Smallest(plan, finding, StreamOfSeed(plan, seed), {});
      operations[finding.cause] = less.steps.size();
      const auto shown = FirstFinding(plan, less);
      ASSERT_TRUE(shown) << finding.cause;
      EXPECT_EQ(shown->cause, finding.cause);
      EXPECT_EQ(less.size, 4096u);
      for (const auto& step : less.steps) {
        EXPECT_LE(step->payload.size(), 8u);
        EXPECT_EQ(step->step.commit.sequence, (SequenceKey{ProducerId{1}, WriterId{1}}));
        EXPECT_EQ(step->step.commit.chunk, ChunkId{0});
      }
    }
  }
  EXPECT_EQ(operations["v2@58:allows_writer_drop"], 1u);
  EXPECT_EQ(operations["v2@58:relocates_completed_chunk"], 2u);
}

TEST(Shrink, StopsWhenAsked) {
  PlainStream stream;
  for (uint32_t i = 0; i < 50; ++i) stream.Add({.commit = Chunk(1, 1, i).Whole(20, 'a').commit()});
  int tries = 0;
  const PlainStream less = Shrink(
      stream, [&](const PlainStream&) { return ++tries > 0; }, [&] { return tries >= 2; });
  EXPECT_EQ(tries, 2);
  EXPECT_LT(less.steps.size(), stream.steps.size());
}

/// A commit of so many fragments of ten bytes, and what is to be left of it.
PlainStream OneLargeCommit(int fragments) {
  Chunk chunk(1, 1, 0);
  for (int i = 0; i < fragments; ++i) chunk.Whole(10, i == fragments / 2 ? 'x' : 'y');
  PlainStream stream;
  stream.Add({.commit = chunk.commit()});
  return stream;
}

// The tries of a commit are few, whatever it is made of.
TEST(Shrink, OfManyFragments_TakesTheOthersAwayInBlocks) {
  int tries = 0;
  const PlainStream less = Shrink(OneLargeCommit(1000), [&](const PlainStream& stream) {
    ++tries;
    if (stream.steps.size() != 1) return false;
    const PayloadParts parts = PartsOf(*stream.steps[0]);
    return std::find(parts.fragments.begin(), parts.fragments.end(), "xxxxxxxxxx") !=
           parts.fragments.end();
  });
  ASSERT_EQ(less.steps.size(), 1u);
  EXPECT_EQ(less.steps[0]->step.commit.fragments, 1);
  EXPECT_LT(tries, 200);
}

// None can go: each is tried once or twice alone, and all are made smaller together.
TEST(Shrink, OfManyFragments_ThatAllMatter_TriesEachAFewTimes) {
  int tries = 0;
  const PlainStream less = Shrink(OneLargeCommit(1000), [&](const PlainStream& stream) {
    ++tries;
    return stream.steps.size() == 1 && stream.steps[0]->step.commit.fragments >= 1000;
  });
  EXPECT_EQ(less.steps[0]->payload.size(), 1000u) << "empty fragments";
  EXPECT_LT(tries, 8000);
}

// A plug-in that watches a buffer from outside cannot report what a read abandons: that is unknown,
// and no finding.
TEST(LedgerCheck, WhatAnEngineDoesNotReport_IsNoFinding) {
  FuzzPlan plan = PlanOf("v2@58", "v2@58");
  const EngineInfo quiet = testing::QuietEngine::Info();
  uint64_t unexplained = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const PlainStream stream = StreamOfSeed(plan, seed);
    EXPECT_EQ(CheckLedger(quiet, stream), "") << seed;
    LedgerSink nowhere;
    const auto run = LedgerRun::Create(quiet, stream.size, stream.policy, nowhere).value();
    for (const auto& step : stream.steps)
      step->With([&](const StreamStep& view) { run->Apply(view); });
    run->Finish();
    unexplained += run->ledger().totals().begin()->second[Fate::kUnexplained].packets;
  }
  EXPECT_GT(unexplained, 0u);
}

// An engine that reports no events, though it should, leaves the ledger with open accounts.
TEST(LedgerCheck, MissingEvents_AreFound) {
  PlainStream stream;
  for (uint32_t i = 0; i < 20; ++i)
    stream.Add({.commit = Chunk(1, 1, i).Whole(1000, 'a').commit()});
  EngineInfo changed = Find("v2@58");
  EXPECT_EQ(CheckLedger(changed, stream), "");
  changed.create = [](EngineConfig config) -> Result<std::unique_ptr<Engine>> {
    config.observer = nullptr;
    return Find("v2@58").create(config);
  };
  EXPECT_NE(CheckLedger(changed, stream), "");
}

}  // namespace
}  // namespace ringscope
