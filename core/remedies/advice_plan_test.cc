#include "core/remedies/advice_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringscope {
namespace {

using ::testing::ElementsAre;

constexpr uint64_t kPlanKiB = 1024;
constexpr BufferId kPlanBuffer{1};
constexpr SequenceKey kFirst{ProducerId{1}, WriterId{1}};
constexpr SequenceKey kPlanSecond{ProducerId{1}, WriterId{2}};
constexpr SequenceKey kThird{ProducerId{2}, WriterId{1}};

SweepRow Row(uint64_t size, uint64_t lost, uint64_t history_ns) {
  SweepRow row;
  row.id = kPlanBuffer;
  row.size = size;
  row.overwritten.packets = lost;
  row.shortest_sequence = kFirst;
  row.shortest_history_ns = history_ns;
  return row;
}

AdviceSequence Sequence(SequenceKey key, uint64_t bytes, uint64_t lost) {
  AdviceSequence sequence;
  sequence.buffer = kPlanBuffer;
  sequence.sequence = key;
  sequence.space_bytes = bytes;
  sequence.lost.packets = lost;
  return sequence;
}

PlannedBuffer Needs(uint16_t id, uint64_t bytes) {
  PlannedBuffer buffer;
  buffer.id = BufferId{id};
  buffer.needed = bytes;
  return buffer;
}

TEST(AdvicePlan, SizesAreWholePagesUpToMoreThanEnough) {
  const std::vector<uint64_t> sizes = AdviceSizes(1'000'000);
  EXPECT_EQ(sizes.front(), 16 * kPlanKiB);
  EXPECT_GE(sizes.back(), 2'000'000u);
  for (size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(sizes[i] % kPageBytes, 0u);
    if (i > 0) {
      EXPECT_LT(sizes[i - 1], sizes[i]);
    }
  }
  EXPECT_EQ(AdviceSizes(UINT64_MAX).back(), uint64_t{2} << 30);
}

TEST(AdvicePlan, ASizeIsNeededIfAllLargerOnesDoToo) {
  // By chance 32 KiB keeps more than 64 KiB.
  const std::vector<SweepRow> rows = {Row(16 * kPlanKiB, 9, 1), Row(32 * kPlanKiB, 5, 6),
                                      Row(64 * kPlanKiB, 6, 4), Row(128 * kPlanKiB, 2, 7),
                                      Row(256 * kPlanKiB, 0, 10)};
  EXPECT_EQ(SmallestSize(rows, 5), 128 * kPlanKiB);
  EXPECT_EQ(SmallestSize(rows, std::nullopt), 256 * kPlanKiB);
  EXPECT_EQ(SmallestSize(rows, 11), std::nullopt);
}

TEST(AdvicePlan, WhatIsLostAtAnySizeDoesNotCount) {
  const std::vector<SweepRow> rows = {Row(16 * kPlanKiB, 9, 1), Row(32 * kPlanKiB, 3, 6),
                                      Row(64 * kPlanKiB, 3, 6)};
  EXPECT_EQ(SmallestSize(rows, std::nullopt), 32 * kPlanKiB);
}

TEST(AdvicePlan, RareSequencesTakeLittleAndLoseSomething) {
  AdviceFacts facts;
  facts.sequences = {Sequence(kFirst, 800, 1), Sequence(kPlanSecond, 100, 50),
                     Sequence(kThird, 20, 3)};
  const auto split = FindSplit(facts, kPlanBuffer, BufferId{2});
  ASSERT_TRUE(split);
  // Together with the second they would take more than an eighth.
  EXPECT_EQ(split->rare, std::vector{kThird});
}

TEST(AdvicePlan, AProducerMovesAsAWholeIfAllOfItIsChatty) {
  AdviceFacts facts;
  facts.sequences = {Sequence(kFirst, 500, 1), Sequence(kPlanSecond, 400, 1),
                     Sequence(kThird, 10, 5)};
  const auto split = FindSplit(facts, kPlanBuffer, BufferId{2});
  ASSERT_TRUE(split);
  EXPECT_THAT(split->rare, ElementsAre(kThird));
  EXPECT_THAT(split->chatty, ElementsAre(kFirst, kPlanSecond));
  EXPECT_EQ(split->chatty_bytes, 900u);
  EXPECT_THAT(RulesOf(facts, *split),
              ElementsAre(RetargetRule{ProducerId{1}, std::nullopt, BufferId{2}}));
}

TEST(AdvicePlan, AWriterMovesAloneIfItsProducerStays) {
  AdviceFacts facts;
  facts.sequences = {Sequence(kFirst, 900, 1), Sequence(kPlanSecond, 10, 5)};
  const auto split = FindSplit(facts, kPlanBuffer, BufferId{2});
  ASSERT_TRUE(split);
  EXPECT_THAT(RulesOf(facts, *split),
              ElementsAre(RetargetRule{ProducerId{1}, WriterId{1}, BufferId{2}}));
}

TEST(AdvicePlan, ThereIsNothingToSplitWhereAllWriteAlike) {
  AdviceFacts facts;
  facts.sequences = {Sequence(kFirst, 500, 5), Sequence(kPlanSecond, 400, 5)};
  EXPECT_FALSE(FindSplit(facts, kPlanBuffer, BufferId{2}));
}

TEST(AdvicePlan, EachGetsWhatItNeedsIfThatFits) {
  std::vector<PlannedBuffer> plan = {Needs(1, 64 * kPlanKiB), Needs(2, 512 * kPlanKiB)};
  ShareMemory(plan, 600 * kPlanKiB);
  EXPECT_EQ(plan[0].size, 64 * kPlanKiB);
  EXPECT_EQ(plan[1].size, 512 * kPlanKiB);
}

TEST(AdvicePlan, TooLittleMemoryGoesToTheSmallAndThenByNeed) {
  std::vector<PlannedBuffer> plan = {Needs(1, 4096 * kPlanKiB), Needs(2, 64 * kPlanKiB),
                                     Needs(3, 2048 * kPlanKiB)};
  ShareMemory(plan, 1024 * kPlanKiB);
  EXPECT_EQ(plan[1].size, 64 * kPlanKiB);
  EXPECT_EQ(plan[2].size, 320 * kPlanKiB);
  EXPECT_EQ(plan[0].size, 640 * kPlanKiB);
}

TEST(AdvicePlan, TheBufferOfTheRareIsServedFirst) {
  std::vector<PlannedBuffer> plan = {Needs(1, 600 * kPlanKiB), Needs(2, 7000 * kPlanKiB)};
  plan[0].first = true;
  ShareMemory(plan, 1024 * kPlanKiB);
  EXPECT_EQ(plan[0].size, 512 * kPlanKiB);
  EXPECT_EQ(plan[1].size, 512 * kPlanKiB);
}

TEST(AdvicePlan, AGroupReachesBackAsFarAsItsWorst) {
  SweepRow row = Row(64 * kPlanKiB, 0, 0);
  for (const auto& [key, history] :
       {std::pair(kFirst, 30u), std::pair(kPlanSecond, 10u), std::pair(kThird, 1u)}) {
    SweepSequence& sequence = row.sequences.emplace_back();
    sequence.sequence = key;
    sequence.written.packets = 5;
    sequence.overwritten.packets = 2;
    sequence.history_ns = history;
  }
  const GroupOutcome outcome = OutcomeOf({row}, {kFirst, kPlanSecond}, {kPlanBuffer});
  EXPECT_EQ(outcome.history_ns, 10u);
  EXPECT_EQ(outcome.lost, 4u);
  EXPECT_EQ(OutcomeOf({row}, {kFirst}, {BufferId{2}}).written, 0u);
}

}  // namespace
}  // namespace ringscope
