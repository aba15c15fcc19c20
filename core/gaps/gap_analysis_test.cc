// Each kind of loss as a small session, and what the report makes of it.

#include "core/gaps/gap_analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/wire.h"
#include "core/perfetto/data_loss.h"
#include "core/testing/made_session.h"
#include "core/testing/message_text.h"

namespace ringscope::testing {
namespace {

TEST(Gaps, NothingLost_NothingReported) {
  const GapReport report = MadeSession("v2@58").Commit(Kilo(1, 1, 0)).Read().Report();
  EXPECT_EQ(LostIn(report).packets, 0u);
  EXPECT_TRUE(Of(report, 1, 1).gaps.empty());
  EXPECT_TRUE(Of(report, 1, 1).false_flags.empty());
}

// [ 1:1#0 | 1:2#0 | 1:2#1 | 1:3#0 ] and 1:2#2 takes the space of 1:1#0.
MadeSession Evicted() {
  MadeSession session("v2@58");
  session.Commit(Kilo(1, 1, 0)).Commit(Kilo(1, 2, 0)).Commit(Kilo(1, 2, 1)).Commit(Kilo(1, 3, 0));
  session.Commit(Kilo(1, 2, 2)).Read();
  return session;
}

TEST(Gaps, Evictors_AreThoseWhoseCommitsNeededTheSpace) {
  EXPECT_EQ(Evicted().Report().evictors, (std::vector<EvictorCount>{{Key(1, 2), 1}}));
}

TEST(Gaps, Evicted_NamesWhomItWasFor) {
  const Gap gap = OnlyGap(Evicted().Report());
  EXPECT_EQ(gap.lost, (FateCount{1, 1006}));
  ASSERT_EQ(gap.causes.size(), 1u);
  EXPECT_EQ(gap.causes[0].cause, Cause::kEvicted);
  EXPECT_EQ(gap.evicted_by, (std::vector<EvictorCount>{{Key(1, 2), 1}}));
  EXPECT_EQ(gap.remedies.separate, Key(1, 2));
  EXPECT_EQ(gap.sign, GapSign::kNothingFollows);
}

TEST(Gaps, Evicted_SizeThatHelps) {
  const MadeSession session = Evicted();
  const GapReport report = session.Report();
  const std::optional<uint64_t> size = OnlyGap(report).remedies.buffer_size;
  // 5 KiB of chunks up to the read, and space for one at the wrap.
  ASSERT_EQ(size, 8192u);
  EXPECT_EQ(LostIn(session.Report(*size)).packets, 0u);
}

TEST(Gaps, Evicted_ReadPeriodThatHelps) {
  MadeSession session("v2@58");
  session.Commit(Kilo(1, 1, 0));
  for (uint32_t id = 0; id < 4; ++id) session.Wait(9).Commit(Kilo(1, 2, id));
  session.Read();
  const GapReport report = session.Report();
  // Written at the start, lost with the fourth chunk of the other, 40 ms later.
  EXPECT_EQ(OnlyGap(report).remedies.read_period_ns, 40 * kGapMs);
  EXPECT_EQ(LostIn(session.Report(0, 40 * kGapMs - 1)).packets, 0u);
}

TEST(Gaps, Evicted_NeedsToLastOnlyUntilTheNextRead) {
  MadeSession session("v2@58");
  for (uint32_t id = 0; id < 6; ++id) session.Commit(Kilo(1, 1, id));
  session.Read();
  for (uint32_t id = 6; id < 16; ++id) session.Commit(Kilo(1, 1, id));
  session.Read();
  const SequenceGaps sequence = Of(session.Report(), 1, 1);
  ASSERT_EQ(sequence.gaps.size(), 2u);
  EXPECT_EQ(sequence.gaps[0].remedies.buffer_size, 8192u);   // 6 KiB and 1 KiB
  EXPECT_EQ(sequence.gaps[1].remedies.buffer_size, 12288u);  // 10 KiB and 1 KiB
  EXPECT_EQ(sequence.gaps[1].first.chunk, 6u);
  EXPECT_EQ(sequence.gaps[1].last.chunk, 11u);
  EXPECT_EQ(LostIn(session.Report(12288)).packets, 0u);
}

TEST(Gaps, Flag_IsSeenOnTheNextPacket) {
  MadeSession session("v2@58");
  session.Commit(Kilo(1, 1, 0)).Read();
  for (uint32_t id = 1; id < 7; ++id) session.Commit(Kilo(1, 1, id));
  const Gap gap = OnlyGap(session.Read().Report());
  EXPECT_EQ(gap.lost.packets, 2u);
  EXPECT_EQ(gap.sign, GapSign::kFlagged);
  ASSERT_TRUE(gap.next);
  EXPECT_EQ(gap.next->place.chunk, 3u);
  EXPECT_EQ(gap.next->loss_bits, kLossPresent | kLossOverwrite);
}

TEST(Gaps, Flag_OnTheFirstPacketIsSaidApart) {
  MadeSession session("v2@58");
  for (uint32_t id = 0; id < 6; ++id) session.Commit(Kilo(1, 1, id));
  EXPECT_EQ(OnlyGap(session.Read().Report()).sign, GapSign::kFlaggedFirst);
}

TEST(Gaps, V1_FlagsFirstPacketsAnyway) {
  MadeSession lost("v1");
  for (uint32_t id = 0; id < 6; ++id) lost.Commit(Kilo(1, 1, id));
  EXPECT_EQ(OnlyGap(lost.Read().Report()).sign, GapSign::kV1First);

  const GapReport report = MadeSession("v1").Commit(Kilo(1, 1, 0)).Read().Report();
  ASSERT_EQ(Of(report, 1, 1).false_flags.size(), 1u);
  EXPECT_EQ(Of(report, 1, 1).false_flags[0].rule, FlagRule::kV1First);
}

TEST(Gaps, V1_FlagsTheChunkThatAReadBeginsWith) {
  MadeSession session("v1");
  session.Commit(Kilo(1, 1, 0)).Read();
  for (uint32_t id = 0; id < 3; ++id) session.Commit(Kilo(1, 2, id));
  session.Commit(Kilo(1, 1, 1)).Read();  // takes the space of the chunk that was read
  const SequenceGaps sequence = Of(session.Report(), 1, 1);
  EXPECT_TRUE(sequence.gaps.empty());
  ASSERT_EQ(sequence.false_flags.size(), 2u);
  EXPECT_EQ(sequence.false_flags[1].rule, FlagRule::kV1Again);
}

TEST(Gaps, Discarded_SizeThatHelps) {
  MadeSession session("v2@58", 4096, FillPolicy::kDiscard);
  for (uint32_t id = 0; id < 5; ++id) session.Commit(Kilo(1, 1, id));
  for (uint32_t id = 0; id < 2; ++id) session.Commit(Kilo(1, 2, id));
  session.Read();
  const GapReport report = session.Report();
  const Gap first = OnlyGap(report, 1, 1), second = OnlyGap(report, 1, 2);
  EXPECT_EQ(first.causes.at(0).cause, Cause::kFull);
  EXPECT_EQ(second.causes.at(0).cause, Cause::kSealed);
  EXPECT_EQ(second.lost.packets, 2u);
  EXPECT_EQ(report.buffers.at(0).filled_by, (std::vector<SequenceShare>{{Key(1, 1), 4096}}));
  EXPECT_EQ(second.remedies.separate, Key(1, 1));
  ASSERT_EQ(second.remedies.buffer_size, 8192u);  // 7 KiB, in whole pages
  EXPECT_EQ(LostIn(session.Report(8192)).packets, 0u);
}

TEST(Gaps, Aborted_CallsForMoreSharedMemory) {
  MadeSession session("v2@58");
  session.Commit(Chunk(1, 1, 0).Whole(10, kFillGaps)).Read();
  session.Commit(Chunk(1, 1, 1).Aborted()).Commit(Chunk(1, 1, 2).Whole(10, kFillGaps)).Read();
  const Gap gap = OnlyGap(session.Report());
  EXPECT_EQ(gap.causes.at(0).fate, Fate::kWriterDropped);
  EXPECT_TRUE(gap.Has(Cause::kAborted));
  EXPECT_FALSE(gap.remedies.buffer_size);
  ASSERT_TRUE(gap.next);
  EXPECT_EQ(gap.next->loss_bits, kLossPresent | kLossWriterAbort);
}

TEST(Gaps, Aborted_FlagsAPacketBeforeIt) {
  MadeSession session("v2@58");
  session.Commit(Chunk(1, 1, 0).Whole(10, kFillGaps)).Commit(Chunk(1, 1, 1).Aborted());
  const SequenceGaps sequence = Of(session.Read().Report(), 1, 1);
  ASSERT_EQ(sequence.false_flags.size(), 1u);
  EXPECT_EQ(sequence.false_flags[0].rule, FlagRule::kAbortAhead);
  EXPECT_EQ(sequence.gaps.size(), 1u);
}

// Chunk 1 is never committed: what begins in chunk 0 has no end.
TEST(Gaps, NeverCommitted_NoFlushHelpsAWriterThatWentOn) {
  MadeSession session("v2@58");
  session.Commit(Chunk(1, 1, 0).Begins(20, kFillGaps))
      .Commit(Chunk(1, 1, 2).Whole(10, kFillGaps))
      .Read();
  const Gap gap = OnlyGap(session.Report());
  EXPECT_EQ(gap.causes.at(0).cause, Cause::kNeverCommitted);
  EXPECT_FALSE(gap.remedies.flush);
}

// A writer of the same id begins with chunk 0 again, after that was read.
TEST(Gaps, ReusedIds_AreNotOutOfOrder) {
  MadeSession session("v2@58");
  session.Commit(Chunk(1, 1, 0).Whole(20, kFillGaps)).Read();
  session.Commit(Chunk(1, 1, 0).Whole(20, 'q')).Read();
  const Gap gap = OnlyGap(session.Report());
  EXPECT_EQ(gap.causes.at(0).cause, Cause::kIdsReused);
  EXPECT_FALSE(gap.remedies.flush);
}

// The buffer keeps what it has of a chunk that is re-committed with as many bytes.
TEST(Gaps, RecommitWithOtherBytes_IsALoss) {
  for (const char* engine : {"v1", "v2@54", "v2@58"}) {
    MadeSession session(engine);
    session.Commit(Chunk(1, 1, 0).Whole(20, kFillGaps));
    session.Commit(Chunk(1, 1, 0).Whole(20, 'q')).Read();
    EXPECT_EQ(OnlyGap(session.Report()).causes.at(0).cause, Cause::kNotReplaced) << engine;
  }
}

// Chunk 5 came first, so its reader passes by all the others: after the gap after chunk 0 it loses
// the packet in fragments, although nothing of it is missing.
TEST(Gaps, BufferBug_IsCountedApart) {
  MadeSession session("v2@58", 65536);
  session.Commit(Chunk(1, 1, 5).Whole(10, kFillGaps))
      .Commit(Chunk(1, 1, 0).Whole(10, kFillGaps))
      .Commit(Chunk(1, 1, 2).Whole(10, kFillGaps))
      .Commit(Chunk(1, 1, 3).Begins(20, kFillGaps))
      .Commit(Chunk(1, 1, 4).Ends(10, kFillGaps));
  const Gap gap = OnlyGap(session.Read().Report());
  EXPECT_EQ(gap.own_fault, (FateCount{1, 30}));
  EXPECT_TRUE(gap.causes.at(0).own_fault);
  EXPECT_EQ(gap.sign, GapSign::kFlagged);
  ASSERT_TRUE(gap.next);
  EXPECT_EQ(gap.next->loss_bits, kLossPresent | kLossOrphanContinuation | kLossReassemblyGap);
}

TEST(Gaps, RefusedByValidation_TakesTheFlagWithIt) {
  MadeSession session("v2@58");
  session.Commit(Kilo(1, 1, 0)).Read();
  for (uint32_t id = 1; id < 5; ++id) session.Commit(Kilo(1, 1, id));
  // Both of the last: the invalid one carries the flag, the good one none.
  session.Commit(Chunk(1, 1, 5).Whole(1006, '\xFF')).Commit(Kilo(1, 1, 6));
  for (uint32_t id = 0; id < 2; ++id) session.Commit(Kilo(1, 2, id));
  const Gap gap = OnlyGap(session.Read().Report());
  EXPECT_EQ(gap.sign, GapSign::kFlagInvalid);
  EXPECT_EQ(gap.lost_bits, kLossPresent | kLossOverwrite);
  EXPECT_FALSE(gap.next);
}

// The buffer holds four chunks, so each writer's chunk evicts the second of 1:1 before it.
TEST(Gaps, Evictors_BeyondTheMostAreASum) {
  MadeSession session("v2@58");
  for (uint16_t i = 0; i < Gap::kMaxEvictors + 8; ++i)
    session.Commit(Kilo(1, static_cast<uint16_t>(100 + i), 0))
        .Commit(Kilo(1, 1, 2 * i))
        .Commit(Kilo(1, 1, 2 * i + 1));
  const Gap gap = OnlyGap(session.Read().Report(), 1, 1);
  EXPECT_EQ(gap.evicted_by.size(), Gap::kMaxEvictors);
  EXPECT_GT(gap.evicted_by_others, 0u);
  EXPECT_EQ(gap.evicted(), gap.lost.packets);
}

TEST(Gaps, MissingChunk_IsNotInTheLog) {
  MadeSession session("v2@58");
  session.Commit(Chunk(1, 1, 0).Whole(10, kFillGaps)).Read();
  session.Commit(Chunk(1, 1, 3).Whole(10, kFillGaps)).Read();
  const SequenceGaps sequence = Of(session.Report(), 1, 1);
  EXPECT_TRUE(sequence.gaps.empty());
  ASSERT_EQ(sequence.false_flags.size(), 1u);
  EXPECT_EQ(sequence.false_flags[0].rule, FlagRule::kNotInLog);
}

// A chunk scraped and read in part, then committed whole: v55 calls that a gap.
TEST(Gaps, Readmission_IsAGapToV55Only) {
  for (const char* engine : {"v2@55", "v2@56", "v2@58"}) {
    SCOPED_TRACE(engine);
    MadeSession session(engine);
    session.Commit(Chunk(1, 1, 0).Whole(10, kFillGaps).Whole(10, kFillGaps).Incomplete());
    session.Read();
    for (uint32_t id = 0; id < 4; ++id) session.Commit(Kilo(1, 2, id));
    session.Read().Commit(
        Chunk(1, 1, 0).Whole(10, kFillGaps).Whole(10, kFillGaps).Whole(10, kFillGaps));
    const SequenceGaps sequence = Of(session.Read().Report(), 1, 1);
    EXPECT_TRUE(sequence.gaps.empty());
    if (std::string(engine) != "v2@55") {
      EXPECT_TRUE(sequence.false_flags.empty());
      continue;
    }
    ASSERT_EQ(sequence.false_flags.size(), 1u);
    EXPECT_EQ(sequence.false_flags[0].rule, FlagRule::kReadmitted);
  }
}

/// A TracePacket of these sequence_flags, of 1006 bytes.
std::string StatePacket(uint64_t flags) {
  const std::string packet = Uint(13, flags);
  return packet + Sub(11, std::string(1006 - packet.size() - 3, 'x'));
}

Chunk StateChunk(uint32_t id, uint64_t flags) {
  const std::string packet = StatePacket(flags);
  std::string fragment;
  wire::AppendVarint(fragment, packet.size());
  return Chunk(1, 1, id).Raw(fragment + packet).Counting(1);
}

TEST(Gaps, State_IsMissingUntilTheNextReset) {
  MadeSession session("v2@58");
  session.Commit(StateChunk(0, 1)).Read();
  for (uint32_t id = 1; id < 7; ++id) session.Commit(StateChunk(id, id == 1 ? 1 : 2));
  session.Read().Commit(StateChunk(7, 1)).Commit(StateChunk(8, 2)).Read();
  const GapReport report = session.Report();
  const Gap gap = OnlyGap(report);
  EXPECT_EQ(gap.lost.packets, 2u);
  EXPECT_EQ(gap.state_packets, 1u);
  EXPECT_EQ(gap.contents, (std::vector<ContentCount>{{11, 0, {2, 2012}}}));
  ASSERT_TRUE(gap.next);
  EXPECT_EQ(gap.next->unusable.count.packets, 4u);  // chunks 3 to 6
  EXPECT_EQ(gap.next->unusable.duration_ns(), 3 * kGapMs);
  EXPECT_TRUE(gap.next->unusable.reset);
  EXPECT_EQ(Of(report, 1, 1).unusable.count.packets, 4u);
  EXPECT_EQ(Of(report, 1, 1).unusable_spans, 1u);
}

/// A chunk of one packet in which its producer reports a loss.
Chunk FlaggedByProducer(uint32_t id) {
  const std::string packet = Uint(42, kLossPresent | kLossSmbFull);
  std::string fragment;
  wire::AppendVarint(fragment, packet.size());
  return Chunk(1, 1, id).Raw(fragment + packet).Counting(1);
}

TEST(Gaps, ProducersOwnFlag_IsToldApart) {
  const GapReport report = MadeSession("v2@58").Commit(FlaggedByProducer(0)).Read().Report();
  EXPECT_EQ(Of(report, 1, 1).producer_flags, 1u);
  EXPECT_EQ(Of(report, 1, 1).hidden_flags, 0u);
  EXPECT_EQ(Of(report, 1, 1).producer_bits, kLossPresent | kLossSmbFull);
  EXPECT_EQ(LostIn(report).packets, 0u);
}

// The writer aborts a packet, drops others, and reports it when it has a chunk again. Then it drops
// packets between two chunks.
TEST(Gaps, ProducersOwnFlag_AfterAnAbortedPacket) {
  // V2 flags the first packet that it returns, which was written before.
  const GapReport report = MadeSession("v2@58")
                               .Commit(Kilo(1, 1, 0))
                               .Commit(Chunk(1, 1, 1).Whole(10, kFillGaps).Aborted())
                               .Commit(FlaggedByProducer(2))
                               .Commit(FlaggedByProducer(3))
                               .Read()
                               .Report();
  const Gap gap = OnlyGap(report);
  EXPECT_EQ(gap.sign, GapSign::kFlaggedByWriter);
  EXPECT_EQ(gap.causes.at(0).cause, Cause::kAborted);
  EXPECT_EQ(Of(report, 1, 1).producer_flags, 2u);
  EXPECT_EQ(Of(report, 1, 1).flags_after_abort, 1u);
  EXPECT_EQ(Of(report, 1, 1).losses_by_flag(), 1u);
}

TEST(Gaps, Merge_WhenNothingBetweenWasRead) {
  // Aborted packets are reported when they are written; those between them are evicted later.
  MadeSession session("v2@58");
  for (uint32_t id = 0; id < 3; ++id)
    session.Commit(Chunk(1, 1, id).Whole(900, kFillGaps).Aborted());
  for (uint32_t id = 0; id < 5; ++id) session.Commit(Kilo(1, 2, id));
  const Gap gap = OnlyGap(session.Read().Report());
  EXPECT_EQ(gap.lost.packets, 3u);
  EXPECT_EQ(gap.places, 3u);
  EXPECT_EQ(gap.causes.size(), 2u);
  EXPECT_EQ(gap.first.chunk, 0u);
  EXPECT_EQ(gap.last.chunk, 2u);
}

TEST(Gaps, Split_WhenSomethingBetweenWasRead) {
  MadeSession session("v2@58");
  for (uint32_t id = 0; id < 3; ++id)
    session.Commit(Chunk(1, 1, id).Whole(900, kFillGaps).Aborted());
  const SequenceGaps sequence = Of(session.Read().Report(), 1, 1);
  EXPECT_EQ(sequence.gaps.size(), 3u);
  EXPECT_EQ(sequence.lost().packets, 0u);
  EXPECT_EQ(sequence.by_fate.places(), 3u);
}

}  // namespace
}  // namespace ringscope::testing
