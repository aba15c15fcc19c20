// Small situations, and what is advised in each.

#include "core/remedies/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/perfetto/trace_config_facts.h"
#include "core/remedies/advice_plan.h"

namespace ringscope {
namespace {

constexpr uint64_t kAdviceMs = 1'000'000;
constexpr uint64_t kKiB = 1024;
constexpr BufferId kBuffer{1};

/// A session with one buffer of 256 KiB, one second long.
class Situation {
 public:
  Situation() {
    facts.duration_ns = 1000 * kAdviceMs;
    AdviceBuffer& buffer = facts.buffers.emplace_back();
    buffer.id = kBuffer;
    buffer.size = 256 * kKiB;
    findings.wish.memory = 1024 * kKiB;
    SweepRow row;
    row.id = kBuffer;
    row.size = buffer.size;
    row.written = {1000, 1000 * kKiB};
    row.shortest_sequence = SequenceKey{ProducerId{1}, WriterId{1}};
    row.shortest_history_ns = facts.duration_ns;
    findings.now.push_back(row);
    findings.then.push_back(row);
    PlannedBuffer& planned = findings.plan.emplace_back();
    planned.id = kBuffer;
    planned.size = buffer.size;
    planned.needed = buffer.size;
  }

  AdviceSequence& Sequence(uint16_t writer, uint64_t bytes, uint64_t lost = 0) {
    AdviceSequence& sequence = facts.sequences.emplace_back();
    sequence.buffer = kBuffer;
    sequence.sequence = {ProducerId{1}, WriterId{writer}};
    sequence.space_bytes = bytes;
    sequence.written.packets = 100;
    sequence.lost.packets = lost;
    sequence.last_ns = facts.duration_ns;
    return sequence;
  }
  AdviceProducer& Producer() {
    AdviceProducer& producer = facts.producers.emplace_back();
    producer.id = ProducerId{1};
    return producer;
  }
  Situation& Lost(uint64_t overwritten, uint64_t history_ns) {
    findings.now[0].overwritten.packets = overwritten;
    findings.now[0].shortest_history_ns = history_ns;
    return *this;
  }
  /// The buffer was read every half second.
  Situation& Streamed() {
    findings.reads = {.periodic = true, .period_ns = 500 * kAdviceMs};
    return *this;
  }
  ReadPeriod& Period() {
    ReadPeriod& period = findings.periods.emplace_back();
    period.buffer = kBuffer;
    period.size = buffer().size;
    return period;
  }
  AdviceBuffer& buffer() { return facts.buffers[0]; }

  std::vector<Advice> All() const { return MakeAdvice(facts, findings); }
  /// The only advice of the kind; fails if there is none.
  Advice Only(AdviceKind kind) const {
    std::vector<Advice> found;
    for (const Advice& advice : All())
      if (advice.kind == kind) found.push_back(advice);
    EXPECT_EQ(found.size(), 1u) << Name(kind);
    return found.empty() ? Advice() : found.front();
  }
  bool Has(AdviceTopic topic) const {
    const std::vector<Advice> all = All();
    return std::any_of(all.begin(), all.end(),
                       [=](const Advice& advice) { return advice.topic == topic; });
  }

  AdviceFacts facts;
  AdviceFindings findings;
};

TEST(Advice, NothingToDoWhereNothingIsLost) {
  const Situation situation;
  EXPECT_FALSE(situation.Only(AdviceKind::kSizeDoes).to_do);
  EXPECT_FALSE(AnyToDo(situation.All()));
}

TEST(Advice, ALargerBufferThatFits) {
  Situation situation;
  situation.Lost(600, 200 * kAdviceMs);
  situation.findings.plan[0].needed = situation.findings.plan[0].size = 640 * kKiB;
  const Advice advice = situation.Only(AdviceKind::kSizeTooSmall);
  EXPECT_TRUE(advice.to_do);
  EXPECT_EQ(advice.As<SizeNumbers>().needed, 640 * kKiB);
  EXPECT_EQ(advice.As<SizeNumbers>().history_ns, 200 * kAdviceMs);
  EXPECT_EQ(advice.As<SizeNumbers>().lost, 600u);
}

TEST(Advice, ALargerBufferThanMemoryAllows) {
  Situation situation;
  situation.Lost(600, 200 * kAdviceMs);
  situation.findings.plan[0].needed = 2048 * kKiB;
  situation.findings.plan[0].size = 1024 * kKiB;
  EXPECT_EQ(situation.Only(AdviceKind::kSizeNotEnough).As<SizeNumbers>().planned, 1024 * kKiB);
}

TEST(Advice, BothPartsOfASplitBufferCount) {
  Situation situation;
  situation.findings.plan[0].needed = situation.findings.plan[0].size = 100 * kKiB;
  PlannedBuffer made;
  made.id = BufferId{2};
  made.made_from = kBuffer;
  made.needed = made.size = 400 * kKiB;
  situation.findings.plan.push_back(made);
  PlannedSplit& split = situation.findings.splits.emplace_back();
  split.from = kBuffer;
  split.to = made.id;
  split.needed = 500 * kKiB;
  EXPECT_EQ(situation.Only(AdviceKind::kSizeTooSmall).As<SizeNumbers>().needed, 500 * kKiB);
}

TEST(Advice, ChattySequencesPushOutRareOnes) {
  Situation situation;
  situation.Sequence(1, 900 * kKiB, 10);
  situation.Sequence(2, 50 * kKiB, 70);
  situation.Sequence(3, 50 * kKiB, 5);
  const Advice advice = situation.Only(AdviceKind::kCrowdedOut);
  EXPECT_EQ(advice.As<CrowdingNumbers>().chatty, 1u);
  EXPECT_EQ(advice.As<CrowdingNumbers>().chatty_share, 900'000u);
  EXPECT_EQ(advice.As<CrowdingNumbers>().rare_lost, 75u);
  EXPECT_EQ(advice.As<CrowdingNumbers>().rare_written, 200u);
}

TEST(Advice, RareOnesThatLostNothingNeedNoHelp) {
  Situation situation;
  situation.Sequence(1, 900 * kKiB, 10);
  situation.Sequence(2, 50 * kKiB);
  EXPECT_FALSE(situation.Has(AdviceTopic::kCrowding));
}

TEST(Advice, WhatTheLargerBufferMakesNeedlessIsLeftOut) {
  Situation situation;
  situation.Lost(600, 200 * kAdviceMs);
  situation.findings.plan[0].needed = situation.findings.plan[0].size = 640 * kKiB;
  situation.Sequence(1, 900 * kKiB, 10);
  situation.Sequence(2, 50 * kKiB, 70).last_ns = 60 * kAdviceMs;
  situation.facts.sequences[0].unusable = 40;
  situation.Period().peak_bytes = 512 * kKiB;
  const std::vector<Advice> all = situation.All();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].kind, AdviceKind::kSizeTooSmall);
  // If the larger buffer still loses some of it, all of that is worth while.
  situation.findings.then[0].overwritten.packets = 3;
  EXPECT_EQ(situation.All().size(), 5u);
}

TEST(Advice, ABufferThatIsMuchTooLarge) {
  Situation situation;
  situation.findings.plan[0].enough = 64 * kKiB;
  const Advice advice = situation.Only(AdviceKind::kSizeTooLarge);
  EXPECT_FALSE(advice.to_do);
  EXPECT_EQ(advice.As<SizeNumbers>().enough, 64 * kKiB);
}

TEST(Advice, StreamingOftenEnough) {
  Situation situation;
  situation.Streamed().Period();
  situation.buffer().rate.Add(0, 64 * kKiB);
  situation.buffer().rate.Add(400 * kAdviceMs, 64 * kKiB);
  const Advice advice = situation.Only(AdviceKind::kPeriodDoes);
  EXPECT_FALSE(advice.to_do);
  EXPECT_EQ(advice.As<PeriodNumbers>().peak, 128 * kKiB);
  EXPECT_EQ(advice.As<PeriodNumbers>().share, 500'000u);
}

TEST(Advice, StreamingThatLosesNothingByGoodLuck) {
  Situation situation;
  situation.Streamed().Period().period_ns = 300 * kAdviceMs;
  situation.buffer().rate.Add(0, 128 * kKiB);
  situation.buffer().rate.Add(400 * kAdviceMs, 128 * kKiB);
  const Advice advice = situation.Only(AdviceKind::kPeriodTight);
  EXPECT_TRUE(advice.to_do);
  EXPECT_EQ(advice.As<ShorterPeriodNumbers>().peak, 256 * kKiB);
  EXPECT_EQ(advice.As<ShorterPeriodNumbers>().period_ns, 300 * kAdviceMs);
}

TEST(Advice, StreamingTooSeldom) {
  Situation situation;
  situation.Lost(5, 0).Streamed().Period().period_ns = 200 * kAdviceMs;
  const Advice advice = situation.Only(AdviceKind::kPeriodTooLong);
  EXPECT_TRUE(advice.to_do);
  EXPECT_EQ(advice.As<ShorterPeriodNumbers>().period_ns, 200 * kAdviceMs);
  EXPECT_EQ(advice.As<ShorterPeriodNumbers>().now_ns, 500 * kAdviceMs);
}

TEST(Advice, NoPeriodIsShortEnough) {
  Situation situation;
  situation.findings.then[0].overwritten.packets = 5;
  situation.Lost(5, 0).Period().peak_bytes = 512 * kKiB;
  EXPECT_EQ(situation.Only(AdviceKind::kPeriodNever).As<NewPeriodNumbers>().peak, 512 * kKiB);
}

TEST(Advice, FlushForWhatComesLate) {
  Situation situation;
  situation.facts.late = {.limit_ns = 500 * kAdviceMs,
                          .packets = 7,
                          .longest_ns = 900 * kAdviceMs,
                          .sequence = SequenceKey{ProducerId{1}, WriterId{2}}};
  const Advice advice = situation.Only(AdviceKind::kCommittedLate);
  EXPECT_TRUE(advice.to_do);
  EXPECT_EQ(advice.As<LateNumbers>().limit_ns, 500 * kAdviceMs);
  EXPECT_EQ(advice.As<LateNumbers>().longest_ns, 900 * kAdviceMs);
}

TEST(Advice, ATraceDoesNotTellWhenItsPacketsWereCommitted) {
  Situation situation;
  situation.facts.late.packets = 7;
  situation.facts.unfinished = 3;
  EXPECT_TRUE(situation.Has(AdviceTopic::kFlush));
  situation.facts.is_trace = true;
  EXPECT_FALSE(situation.Has(AdviceTopic::kFlush));
}

TEST(Advice, AFlushIsNotAskedForWhereOneWasInVain) {
  Situation situation;
  situation.facts.unfinished_before_flush = 36;
  const Advice advice = situation.Only(AdviceKind::kFlushedInVain);
  EXPECT_EQ(advice.As<UnfinishedNumbers>().packets, 36u);
  EXPECT_FALSE(advice.to_do) << "nothing can be done";
}

TEST(Advice, ClearStateAnOrderOfMagnitudeBelowTheHistory) {
  Situation situation;
  situation.Sequence(1, 100).unusable = 40;
  situation.findings.then[0].read.packets = 960;
  situation.findings.then[0].shortest_history_ns = 2340 * kAdviceMs;
  const Advice advice = situation.Only(AdviceKind::kClearState);
  EXPECT_TRUE(advice.to_do);
  EXPECT_EQ(advice.As<StateNumbers>().packets, 40u);
  EXPECT_EQ(advice.As<StateNumbers>().period_ns, 230 * kAdviceMs);
  situation.facts.config.clear_period_ms = 200;
  EXPECT_FALSE(situation.Only(AdviceKind::kClearState).to_do);
}

TEST(Advice, SharedMemoryThatWasFull) {
  Situation situation;
  AdviceProducer& producer = situation.Producer();
  producer.smb_size = 256 * kKiB;
  producer.aborted = 3;
  producer.rate.Add(0, 300 * kKiB);
  producer.rate.Add(50 * kAdviceMs, 400 * kKiB);
  const Advice advice = situation.Only(AdviceKind::kSharedMemoryTooSmall);
  EXPECT_TRUE(advice.to_do);
  EXPECT_EQ(advice.As<SharedMemoryNumbers>().peak_10ms, 400 * kKiB);
  EXPECT_EQ(advice.As<SharedMemoryNumbers>().peak_100ms, 700 * kKiB);
  EXPECT_EQ(advice.As<SharedMemoryNumbers>().wanted, 1024 * kKiB);
}

TEST(Advice, NothingIsSaidOfSharedMemoryThatTheLogDoesNotKnow) {
  Situation situation;
  situation.Producer().rate.Add(0, 300 * kKiB);
  EXPECT_FALSE(situation.Has(AdviceTopic::kSharedMemory));
}

TEST(Advice, DiscardWithStreamingIsATrap) {
  Situation situation;
  situation.buffer().policy = FillPolicy::kDiscard;
  situation.buffer().first_refused_ns = 300 * kAdviceMs;
  situation.findings.now[0].discarded.packets = 700;
  EXPECT_EQ(situation.Only(AdviceKind::kDiscardFull).As<DiscardNumbers>().at_ns, 300 * kAdviceMs);
  EXPECT_EQ(situation.Streamed().Only(AdviceKind::kDiscardStreamed).As<DiscardNumbers>().lost,
            700u);
}

TEST(Advice, DiscardWithStreamingIsWarnedOfBeforeAnyLoss) {
  Situation situation;
  situation.buffer().policy = FillPolicy::kDiscard;
  situation.Streamed();
  const Advice advice = situation.Only(AdviceKind::kDiscardWillSeal);
  EXPECT_TRUE(advice.to_do);
  EXPECT_EQ(advice.As<DiscardRiskNumbers>().size, 256 * kKiB);
}

TEST(Advice, WhatIsOnlyWrittenAtTheStartIsGoneFromARing) {
  Situation situation;
  situation.Sequence(1, 900 * kKiB, 10);
  situation.Sequence(2, 5 * kKiB, 100).last_ns = 60 * kAdviceMs;
  const Advice advice = situation.Only(AdviceKind::kRingForStart);
  EXPECT_EQ(advice.As<RingNumbers>().packets, 100u);
  EXPECT_EQ(advice.As<RingNumbers>().bytes, 5 * kKiB);
  EXPECT_EQ(advice.As<RingNumbers>().until_ns, 60 * kAdviceMs);
}

TEST(Advice, ClearPeriodsAreRoundAndNotSilly) {
  EXPECT_EQ(ClearPeriodFor(50 * kAdviceMs), 0u);
  EXPECT_EQ(ClearPeriodFor(999 * kAdviceMs), 99 * kAdviceMs);
  EXPECT_EQ(ClearPeriodFor(30'000 * kAdviceMs), 3000 * kAdviceMs);
  EXPECT_EQ(ClearPeriodFor(31'470 * kAdviceMs), 3100 * kAdviceMs);
}

}  // namespace
}  // namespace ringscope
