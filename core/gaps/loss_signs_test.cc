// What shows losses beside the packets that are known to be lost, and causes that call for another
// remedy than a larger buffer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/gaps/gap_report.h"
#include "core/perfetto/data_loss.h"
#include "core/testing/made_session.h"

namespace ringscope::testing {
namespace {

bool ProvesNoLoss(const GapReport& report) {
  const GapSelection all(report, 0, {});
  return !all.any_loss && !all.any_sign;
}

/// A chunk whose packet of 500 bytes begins in it and lacks a patch; 512 bytes in all.
Chunk Unpatched(uint16_t writer, uint32_t id) {
  return Chunk(1, writer, id).Begins(490, kFillGaps).NeedsPatching();
}

TEST(LossSigns, NothingLost_IsProven) {
  EXPECT_TRUE(ProvesNoLoss(MadeSession("v2@58").Commit(Kilo(1, 1, 0)).Read().Report()));
}

// Chunk 0 waits for a patch that never comes; 1 and 2 have to wait after it. Then 1:2 needs the
// space.
MadeSession NeverPatched(uint64_t size = 4096) {
  MadeSession session("v2@58", size);
  session.Commit(Unpatched(1, 0)).Commit(Chunk(1, 1, 1).Ends(10, kFillGaps).Whole(990, kFillGaps));
  session.Commit(Kilo(1, 1, 2)).Read();
  for (uint32_t id = 0; id < 6; ++id) session.Commit(Kilo(1, 2, id));
  session.Read();
  return session;
}

TEST(LossSigns, NeverPatched_TheStallIsTheCause) {
  const Gap gap = OnlyGap(NeverPatched().Report());
  EXPECT_EQ(gap.lost.packets, 3u);
  ASSERT_EQ(gap.blamed.size(), 2u);
  EXPECT_EQ(gap.blamed[0].cause, Cause::kAwaitedPatch);
  EXPECT_EQ(gap.blamed[0].count.packets, 1u);
  EXPECT_EQ(gap.blamed[1].cause, Cause::kBehindStall);
  EXPECT_EQ(gap.blamed[1].count.packets, 2u);
  for (const GapBlame& blame : gap.blamed) {
    EXPECT_EQ(blame.chunk, (ChunkName{Key(1, 1), ChunkId{0}}));
    EXPECT_EQ(blame.at.record, 2u);
    ASSERT_TRUE(blame.stall);
    EXPECT_EQ(blame.stall->passes, 1u);
    EXPECT_EQ(blame.stall->packets, 3u);
    EXPECT_EQ(blame.stall->end, StallEnd::kOverwritten);
    EXPECT_FALSE(blame.stall->patched);
  }
  EXPECT_TRUE(gap.remedies.no_size_helps);
  EXPECT_FALSE(gap.remedies.buffer_size);
  EXPECT_FALSE(gap.remedies.flush);
}

// So it is, however large the buffer: they are not lost then, but wait for good.
TEST(LossSigns, NeverPatched_ALargerBufferKeepsThemWaiting) {
  const GapReport report = NeverPatched(65536).Report();
  EXPECT_EQ(LostIn(report).packets, 0u);
  const std::optional<OpenStall>& stall = Of(report, 1, 1).stall;
  ASSERT_TRUE(stall);
  EXPECT_EQ(stall->count.packets, 3u);
  EXPECT_EQ(stall->cause, Cause::kWaitsForPatch);
  EXPECT_EQ(stall->at, (ChunkName{Key(1, 1), ChunkId{0}}));
  EXPECT_EQ(stall->since.record, 2u);
  EXPECT_FALSE(ProvesNoLoss(report));
}

// The patch comes when the chunk is gone: a larger buffer would have had it.
TEST(LossSigns, PatchedTooLate_CallsForALargerBuffer) {
  MadeSession session = NeverPatched();
  session.Patch(1, 0, 100).Read();
  const GapReport report = session.Report();
  const Gap gap = OnlyGap(report);
  EXPECT_EQ(gap.causes.at(0).cause, Cause::kBehindStall);
  EXPECT_EQ(gap.causes.at(1).cause, Cause::kAwaitedPatch);
  ASSERT_EQ(gap.blamed.size(), 2u);
  ASSERT_TRUE(gap.blamed[0].stall);
  EXPECT_TRUE(gap.blamed[0].stall->patched);
  EXPECT_FALSE(gap.remedies.no_size_helps);
  ASSERT_TRUE(gap.remedies.buffer_size);
  EXPECT_EQ(LostIn(session.Report(*gap.remedies.buffer_size)).packets, 0u);
  EXPECT_EQ(report.buffers[0].patches_failed, 1u);
}

TEST(LossSigns, PatchedInTime_IsNoStall) {
  MadeSession session("v2@58");
  session.Commit(Unpatched(1, 0)).Commit(Chunk(1, 1, 1).Ends(10, kFillGaps));
  session.Patch(1, 0, 100);
  for (uint32_t id = 0; id < 6; ++id) session.Commit(Kilo(1, 2, id));
  const Gap gap = OnlyGap(session.Read().Report());
  EXPECT_EQ(gap.causes.at(0).cause, Cause::kEvicted);
  EXPECT_FALSE(gap.remedies.no_size_helps);
}

TEST(LossSigns, MissingChunk_IsUnknownLoss) {
  MadeSession session("v2@58");
  session.Commit(Kilo(1, 1, 0)).Read().Commit(Kilo(1, 1, 2)).Read();
  const GapReport report = session.Report();
  EXPECT_EQ(LostIn(report).packets, 0u);
  EXPECT_FALSE(ProvesNoLoss(report));
  const SequenceGaps& sequence = Of(report, 1, 1);
  EXPECT_EQ(sequence.missing_chunks, 1u);
  ASSERT_EQ(sequence.missing.size(), 1u);
  const MissingChunks& missing = sequence.missing[0];
  EXPECT_EQ(missing.first, 1u);
  EXPECT_EQ(missing.last, 1u);
  EXPECT_EQ(missing.before.record, 2u);
  EXPECT_EQ(missing.after.record, 4u);
  EXPECT_EQ(missing.sign, GapSign::kFlagged);
  EXPECT_EQ(missing.loss_bits, kLossPresent | kLossReadGap);
  EXPECT_FALSE(missing.reported);
}

TEST(LossSigns, MissingChunk_ThatComesLaterIsNone) {
  MadeSession session("v2@58");
  session.Commit(Kilo(1, 1, 0)).Commit(Kilo(1, 1, 2)).Commit(Kilo(1, 1, 1)).Read();
  EXPECT_EQ(Of(session.Report(), 1, 1).missing_chunks, 0u);
}

TEST(LossSigns, MissingChunk_InTheRecordersGap) {
  MadeSession session("v2@58");
  session.Commit(Kilo(1, 1, 0)).Read();
  RecorderGap gap;
  gap.reason = "the queue was full";
  gap.producer = ProducerId{1};
  session.Add({.time_ns = {}, .body = gap});
  const GapReport report = session.Commit(Kilo(1, 1, 2)).Read().Report();
  const SequenceGaps& sequence = Of(report, 1, 1);
  ASSERT_EQ(sequence.missing.size(), 1u);
  ASSERT_EQ(sequence.missing[0].reported, 0u);
  EXPECT_EQ(report.reported.at(0).reason, "the queue was full");
  ASSERT_EQ(sequence.false_flags.size(), 1u);
  EXPECT_EQ(sequence.false_flags[0].rule, FlagRule::kRecorderGap);
}

TEST(LossSigns, ForgottenSequence_IsNotFlagged) {
  MadeSession session("v2@58", 1 << 20);
  session.Commit(Kilo(1, 1, 0)).Read();
  for (uint16_t writer = 2; writer < 1400; ++writer)
    session.Commit(Chunk(1, writer, 0).Whole(20, kFillGaps));
  session.Read();
  // The clean-up is at the end of a commit.
  session.Commit(Kilo(1, 2000, 0)).Commit(Kilo(1, 1, 2)).Read();
  const GapReport report = session.Report();
  const SequenceGaps& sequence = Of(report, 1, 1);
  ASSERT_EQ(sequence.missing.size(), 1u);
  EXPECT_EQ(sequence.missing[0].sign, GapSign::kNotFlagged);
  EXPECT_TRUE(sequence.missing[0].forgotten);
}

TEST(LossSigns, GapOfAWriter_ConcernsItAlone) {
  MadeSession session("v2@58");
  RecorderGap gap;
  gap.reason = "packets are missing";
  gap.producer = ProducerId{1};
  gap.writer = WriterId{3};
  gap.from_ns = 5;
  gap.to_ns = 6;
  session.Commit(Kilo(1, 3, 0));
  session.Add({.time_ns = {}, .body = gap}).Commit(Kilo(1, 3, 1)).Read();
  const GapReport report = session.Report();
  ASSERT_EQ(report.reported.size(), 1u);
  EXPECT_EQ(report.reported[0].sequence(), Key(1, 3));
  EXPECT_FALSE(ProvesNoLoss(report));
  LogSelection other;
  other.sequences = {Key(9, 9)};
  const GapSelection selection(report, 0, other);
  EXPECT_FALSE(selection.any_loss || selection.any_sign);
}

// A patch for which no packet waits: its chunk was read.
TEST(LossSigns, PatchThatNobodyNeeds_IsHarmless) {
  MadeSession session("v2@58");
  session.Commit(Kilo(1, 1, 0)).Read().Commit(Kilo(1, 1, 1)).Read();
  const GapReport report = session.Patch(1, 0, 100).Read().Report();
  EXPECT_EQ(report.buffers[0].patches_failed, 0u);
}

// The chunk again with a packet less, which V2 counts as a violation.
TEST(LossSigns, RepeatedCommit_IsHarmless) {
  MadeSession session("v2@58");
  session.Commit(Chunk(1, 1, 0).Whole(20, kFillGaps).Whole(20, kFillGaps));
  session.Commit(Chunk(1, 1, 0).Whole(20, kFillGaps)).Read();
  EXPECT_EQ(session.Report().buffers[0].abi_violations, 0u);
}

// A chunk whose header counts more fragments than are there, and a harmless re-commit in a later
// buffer of the same id: the counts are those of both.
TEST(LossSigns, CountersOfAllBuffersOfAnId_AreCounted) {
  MadeSession session("v2@58");
  session.Commit(Chunk(1, 1, 0).Whole(20, kFillGaps).Counting(3)).Read();
  BufferSetUp again;
  again.id = BufferId{1};
  again.size = 4096;
  again.engine = "v2@58";
  session.Add({.time_ns = {}, .body = again});
  session.Commit(Chunk(1, 2, 0).Whole(20, kFillGaps).Whole(20, kFillGaps));
  session.Commit(Chunk(1, 2, 0).Whole(20, kFillGaps)).Read();
  EXPECT_EQ(session.Report().buffers[0].abi_violations, 1u);
}

TEST(LossSigns, Continuation_OfNothing) {
  MadeSession session("v2@58");
  session.Commit(Chunk(1, 1, 0).Ends(10, kFillGaps).Whole(10, kFillGaps));
  session.Commit(Chunk(1, 2, 7).Ends(10, kFillGaps).Whole(10, kFillGaps)).Read();
  const GapReport report = session.Report();
  const Gap broken = OnlyGap(report, 1, 1);
  EXPECT_EQ(broken.causes.at(0).cause, Cause::kNoBeginning);
  EXPECT_FALSE(broken.remedies.flush);
  EXPECT_EQ(OnlyGap(report, 1, 2).causes.at(0).cause, Cause::kBeforeLog);
}

// A patch is for the last fragment, which continues in the next chunk; this one hits the first.
TEST(LossSigns, WrongPatch_IsTheCause) {
  MadeSession session("v2@58");
  session.Commit(Chunk(1, 1, 0).Whole(20, kFillGaps).Begins(20, kFillGaps).NeedsPatching());
  session.Commit(Chunk(1, 1, 1).Ends(20, kFillGaps)).Patch(1, 0, 5, "\xFF\xFF\xFF\xFF").Read();
  const Gap gap = OnlyGap(session.Report());
  EXPECT_EQ(gap.causes.at(0).cause, Cause::kWrongPatch);
  ASSERT_EQ(gap.blamed.size(), 1u);
  EXPECT_EQ(gap.blamed[0].at.record, 4u);
}

TEST(LossSigns, OutOfOrder_NamesTheNewerChunk) {
  MadeSession session("v2@58");
  session.Commit(Kilo(1, 1, 0)).Commit(Kilo(1, 1, 2)).Read().Commit(Kilo(1, 1, 1)).Read();
  const Gap gap = OnlyGap(session.Report());
  EXPECT_EQ(gap.causes.at(0).cause, Cause::kAlreadyConsumed);
  ASSERT_EQ(gap.blamed.size(), 1u);
  EXPECT_EQ(gap.blamed[0].chunk, (ChunkName{Key(1, 1), ChunkId{2}}));
  EXPECT_EQ(gap.blamed[0].at.record, 4u);
  EXPECT_FALSE(gap.remedies.flush);
}

MadeSession& SetUpMemory(MadeSession& session, uint64_t size) {
  return session.Add(
      {.time_ns = {},
       .body = SharedMemorySetUp{.producer = ProducerId{1}, .size = size, .page_size = 4096}});
}

TEST(LossSigns, Aborted_ThePacketIsLargerThanTheMemory) {
  MadeSession session("v2@58", 65536);
  SetUpMemory(session, 8192).Wait(1000);
  session.Commit(Chunk(1, 1, 0).Begins(4000, kFillGaps)).Wait(200);
  session.Commit(Chunk(1, 1, 1).Continues(4000, kFillGaps)).Wait(200);
  session.Commit(Chunk(1, 1, 2).AbortedEnd()).Read();
  const Gap gap = OnlyGap(session.Report());
  ASSERT_TRUE(gap.abort);
  EXPECT_EQ(gap.abort->reason, AbortReason::kLargePacket);
  EXPECT_EQ(gap.abort->packet_bytes, 8000u);
}

TEST(LossSigns, Aborted_InABurst) {
  MadeSession session("v2@58", 65536);
  SetUpMemory(session, 4096).Wait(1000);
  session.Commit(Kilo(1, 2, 0));
  for (uint32_t id = 0; id < 4; ++id) session.Commit(Kilo(1, 1, id));
  const Gap gap = OnlyGap(session.Commit(Chunk(1, 1, 4).Aborted()).Read().Report());
  ASSERT_TRUE(gap.abort);
  EXPECT_EQ(gap.abort->reason, AbortReason::kBurst);
  EXPECT_EQ(gap.abort->smb_size, 4096u);
  EXPECT_GT(gap.abort->window_bytes, 4096u);
}

TEST(LossSigns, Aborted_AfterTheServiceTookNothing) {
  MadeSession session("v2@58", 65536);
  SetUpMemory(session, 4096).Commit(Kilo(1, 2, 0)).Wait(300);
  std::vector<Chunk> all;
  for (uint32_t id = 0; id < 4; ++id) all.push_back(Kilo(1, 1, id));
  all.push_back(Chunk(1, 1, 4).Aborted());
  const Gap gap = OnlyGap(session.CommitAll(all).Read().Report());
  ASSERT_TRUE(gap.abort);
  EXPECT_EQ(gap.abort->reason, AbortReason::kServiceQuiet);
  EXPECT_EQ(gap.abort->quiet_ns, 301 * kGapMs);
}

TEST(LossSigns, Aborted_WhileTheRecorderHeldTheProducer) {
  MadeSession session("v2@58", 65536);
  SetUpMemory(session, 65536).Commit(Kilo(1, 1, 0)).Wait(300);
  session.Add({.time_ns = {},
               .body = Inexact{.reason = InexactReason::kHeld,
                               .producer = ProducerId{1},
                               .detail = {},
                               .held_ns = 4'000'000}});
  const Gap gap = OnlyGap(session.Commit(Chunk(1, 1, 1).Aborted()).Read().Report());
  ASSERT_TRUE(gap.abort);
  EXPECT_EQ(gap.abort->reason, AbortReason::kHeldByRecorder);
  EXPECT_EQ(gap.abort->held_ns, 4'000'000u);
}

TEST(LossSigns, Aborted_ForNoReasonThatIsInTheLog) {
  MadeSession session("v2@58", 65536);
  SetUpMemory(session, 65536).Commit(Kilo(1, 1, 0)).Wait(300).Commit(Chunk(1, 1, 1).Aborted());
  const Gap gap = OnlyGap(session.Read().Report());
  ASSERT_TRUE(gap.abort);
  EXPECT_EQ(gap.abort->reason, AbortReason::kNotShown);
}

}  // namespace
}  // namespace ringscope::testing
