#include "core/compare/log_differ.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/perfetto/data_loss.h"
#include "core/session/replay_listener.h"
#include "core/testing/session_log.h"
#include "core/testing/silent_engine.h"

namespace ringscope::testing {
namespace {

/// Differences in the results: everything but counters and the order across sequences.
uint64_t ResultsIn(const DiffCounts& counts) {
  return counts.all() - counts[DifferenceKind::kCounter] - counts[DifferenceKind::kOrder];
}

using ::testing::ElementsAre;
using DiffKind = DifferenceKind;

Op DiffReadOp() { return {.time_ns = {}, .body = ReadPass{.buffer = BufferId{1}}}; }

ReplayOptions Side58() {
  ReplayOptions options;
  options.session.all.engine = "v2@58";
  return options;
}
Both<ReplayOptions> OfEngines(const char* a, const char* b) {
  Both<ReplayOptions> sides;
  sides.a.session.all.engine = a;
  sides.b.session.all.engine = b;
  return sides;
}

LogDiff DiffOf(const Both<ReplayOptions>& sides, const std::vector<Op>& ops) {
  DiffOptions options;
  options.sides = sides;
  LogDiffer diff(options);
  for (size_t i = 0; i < ops.size(); ++i) EXPECT_TRUE(diff.Apply(ops[i], i + 1));
  return diff.Finish().value();
}

/// "1:6#3+0: evicted for 1:2#0" for the side that did not return the packet.
std::vector<std::string> Missing(const LogDiff& result, Side returned) {
  std::vector<std::string> lines;
  for (const PacketDifference& packet : result.packets[OnlyIn(returned)]) {
    EXPECT_TRUE(packet.sides[returned].packet);
    EXPECT_FALSE(packet.sides[Other(returned)].packet);
    const DiffPlace& place = packet.seen().place;
    lines.push_back(ToString(place.chunk.name) + "+" + std::to_string(place.offset) + ": " +
                    Describe(*packet.sides[Other(returned)].why));
  }
  return lines;
}

TEST(LogDiffer, SameSides_AreTheSame) {
  const Request first = Request(1).Move(1, Chunk(1, 1, 0).Whole(20, 'a').Whole(8, 'b'));
  const LogDiff result =
      DiffOf(OfEngines("v2@58", "v2@58"), {BufferOp(1), first.op(), DiffReadOp()});
  EXPECT_TRUE(result.Same());
  EXPECT_EQ(result.counts.matched, 2u);
  EXPECT_FALSE(result.first);
  EXPECT_FALSE(result.first_counter);
  EXPECT_EQ(result.buffers.at(0).sides.a.read.packets, 2u);
}

// A: 4096 bytes; the second chunk evicts the first. B: 8192 bytes.
TEST(LogDiffer, SmallerBuffer_LosesWithReason) {
  const Request first = Request(1).Move(1, Chunk(1, 1, 0).Whole(3000, 'a'));
  const Request second = Request(1).Move(1, Chunk(1, 2, 0).Whole(3000, 'b'));
  Both<ReplayOptions> sides = {Side58(), Side58()};
  sides.b.session.all.size = 8192;
  const LogDiff result = DiffOf(sides, {BufferOp(1), first.op(), second.op(), DiffReadOp()});
  EXPECT_THAT(Missing(result, Side::kB), ElementsAre("1:1#0+0: evicted for 1:2#0"));
  EXPECT_THAT(Missing(result, Side::kA), ElementsAre());
  EXPECT_EQ(result.counts.matched, 1u);

  ASSERT_TRUE(result.first);
  EXPECT_EQ(result.first->kind, DiffKind::kOnlyInB);
  EXPECT_EQ(result.first->moment.record, 4u);
  EXPECT_EQ(result.first->packet->sides.a.why->moment.record, 3u);
  EXPECT_EQ(result.first->packet->written.record, 2u);

  // As sizes were chosen, the size itself is no difference.
  const BufferDiff& buffer = result.buffers.at(0);
  EXPECT_FALSE(buffer.CounterDiffers(0));
  ASSERT_TRUE(result.first_counter);
  EXPECT_EQ(result.first_counter->moment.record, 3u);
}

TEST(LogDiffer, FullDiscardBuffer_SaysWhy) {
  const Request first = Request(1).Move(1, Chunk(1, 1, 0).Whole(3000, 'a'));
  const Request second = Request(1).Move(1, Chunk(1, 2, 0).Whole(3000, 'b'));
  Both<ReplayOptions> sides = {Side58(), Side58()};
  sides.a.session.all.policy = FillPolicy::kDiscard;
  const LogDiff result = DiffOf(sides, {BufferOp(1), first.op(), second.op(), DiffReadOp()});
  EXPECT_THAT(Missing(result, Side::kB),
              ElementsAre("1:2#0+0: chunk discarded: the buffer is full"));
  EXPECT_THAT(Missing(result, Side::kA), ElementsAre("1:1#0+0: evicted for 1:2#0"));
}

TEST(LogDiffer, LossBits_OfMatchedPackets) {
  const Request first = Request(1).Move(1, Chunk(1, 1, 0).Whole(3000, 'a'));
  const Request second = Request(1).Move(1, Chunk(1, 1, 1).Whole(3000, 'b'));
  const LogDiff result =
      DiffOf(OfEngines("v2@56", "v2@57"), {BufferOp(1), first.op(), second.op(), DiffReadOp()});
  EXPECT_EQ(result.counts[DiffKind::kLossBits], 1u);
  EXPECT_EQ(ResultsIn(result.counts), 1u);
  ASSERT_TRUE(result.first);
  EXPECT_EQ(result.first->kind, DiffKind::kLossBits);
  EXPECT_EQ(result.first->packet->sides.a.packet->loss_bits, 1u);
  EXPECT_EQ(result.first->packet->sides.b.packet->loss_bits, kLossPresent | kLossOverwrite);
}

TEST(LogDiffer, Patch_AppliedOnOneSideAlone) {
  const Request first = Request(1).Move(1, Chunk(1, 1, 0).Whole(3000, 'a'));
  const Request second = Request(1).Move(1, Chunk(1, 2, 0).Whole(3000, 'b'));
  const Request patch = Request(1).Patch(1, 1, 0, 10, "wxyz");
  Both<ReplayOptions> sides = {Side58(), Side58()};
  sides.a.session.all.size = 8192;
  const LogDiff result = DiffOf(sides, {BufferOp(1), first.op(), second.op(), patch.op()});
  EXPECT_EQ(result.counts[DiffKind::kPatch], 1u);
  ASSERT_TRUE(result.first);
  EXPECT_EQ(result.first->kind, DiffKind::kPatch);
  EXPECT_EQ(result.first->moment.record, 4u);
  EXPECT_TRUE(result.first->patched.a);
  EXPECT_EQ(ToString(result.first->chunk.value()), "1:1#0");
}

TEST(LogDiffer, CountersAlone_AreADifferenceOfTheirOwn) {
  const Request aborted = Request(1).Move(1, Chunk(1, 1, 0).Aborted());
  const LogDiff result =
      DiffOf(OfEngines("v2@57", "v2@58"), {BufferOp(1), aborted.op(), DiffReadOp()});
  EXPECT_TRUE(result.SameResults());
  EXPECT_FALSE(result.Same());
  EXPECT_EQ(result.counts[DiffKind::kCounter], 1u);
  ASSERT_TRUE(result.first_counter);
  EXPECT_FALSE(result.first);
  EXPECT_EQ(result.first_counter->moment.record, 2u);
  ASSERT_EQ(result.first_counter->counters.size(), 1u);
  EXPECT_STREQ(kStatFields[result.first_counter->counters[0]].name, "abi_violations");
}

// v1 reads sequence by sequence, v2 in the buffer's order.
TEST(LogDiffer, OrderAcrossSequences_IsCountedApart) {
  std::vector<Request> requests;
  for (const uint32_t chunk : {0u, 1u})
    for (const uint16_t writer : {uint16_t{1}, uint16_t{2}})
      requests.push_back(Request(1).Move(1, Chunk(1, writer, chunk).Whole(20, 'a')));
  std::vector<Op> ops = {BufferOp(1)};
  for (const Request& request : requests) ops.push_back(request.op());
  ops.push_back(DiffReadOp());
  const LogDiff result = DiffOf(OfEngines("v1", "v2@56"), ops);
  EXPECT_EQ(result.counts[DiffKind::kOrder], 1u);
  EXPECT_EQ(result.first_order->moment.record, 6u);
  EXPECT_EQ(result.counts[DiffKind::kReordered], 0u);
  EXPECT_EQ(result.counts.matched, 4u);
  EXPECT_FALSE(result.SameResults());
}

// With passes of one packet, the larger buffer returns the same packets after others.
TEST(LogDiffer, LaterReturn_IsOneDifference) {
  const Request scraped =
      Request(1).Move(1, Chunk(1, 1, 0).Whole(8, 'a').Whole(8, 'b').Incomplete());
  const Request again = Request(1).Move(1, Chunk(1, 1, 0).Whole(8, 'a').Whole(8, 'b').Incomplete());
  const Request after = Request(1).Move(1, Chunk(1, 1, 1).Whole(8, 'c'));
  const Request complete = Request(1).Move(1, Chunk(1, 1, 0).Whole(8, 'a').Whole(8, 'b'));
  // v54 takes the second scrape for a completion: it continues in the next chunk at once.
  const LogDiff result =
      DiffOf(OfEngines("v2@54", "v2@55"), {BufferOp(1), scraped.op(), again.op(), after.op(),
                                           DiffReadOp(), complete.op(), DiffReadOp()});
  EXPECT_EQ(result.counts[DiffKind::kMoved], 1u);
  EXPECT_EQ(result.counts[DiffKind::kOnlyInA], 0u);
  ASSERT_TRUE(result.first);
  EXPECT_EQ(result.first->kind, DiffKind::kMoved);
  EXPECT_EQ(result.first->moment.record, 5u);
  EXPECT_EQ(result.first->packet->sides.a.packet->moment.record, 5u);
  EXPECT_EQ(result.first->packet->sides.b.packet->moment.record, 7u);
  EXPECT_EQ(result.counts[DiffKind::kOnlyInB], 1u);
  EXPECT_THAT(
      Missing(result, Side::kB),
      ElementsAre("1:1#0+9: chunk discarded: this chunk or a newer one was consumed before"));
}

TEST(LogDiffer, OtherReads_LeaveMomentsOut) {
  std::vector<Op> ops = {BufferOp(1)};
  const Request first = Request(1).Move(1, Chunk(1, 1, 0).Whole(20, 'a'));
  const Request second = Request(1).Move(1, Chunk(1, 1, 1).Whole(20, 'b'));
  ops = {BufferOp(1), first.op(), DiffReadOp(), second.op(), DiffReadOp()};
  Both<ReplayOptions> sides = {Side58(), Side58()};
  sides.b.reads.mode = ReadsMode::kEnd;
  const LogDiff result = DiffOf(sides, ops);
  EXPECT_FALSE(result.same_reads);
  EXPECT_TRUE(result.SameResults());
  EXPECT_EQ(result.counts.matched, 2u);
}

TEST(LogDiffer, NeverRead_IsStillHeldThere) {
  const Request first = Request(1).Move(1, Chunk(1, 1, 0).Whole(20, 'a'));
  Both<ReplayOptions> sides = {Side58(), Side58()};
  sides.b.reads.mode = ReadsMode::kNone;
  const LogDiff result = DiffOf(sides, {BufferOp(1), first.op(), DiffReadOp()});
  EXPECT_THAT(Missing(result, Side::kA), ElementsAre("1:1#0+0: still in the buffer"));
}

TEST(LogDiffer, Clones_AreComparedToo) {
  const Request first = Request(1).Move(1, Chunk(1, 1, 0).Whole(3000, 'a'));
  const Request second = Request(1).Move(1, Chunk(1, 2, 0).Whole(3000, 'b'));
  Both<ReplayOptions> sides = {Side58(), Side58()};
  sides.b.session.all.size = 8192;
  const Op clone{.time_ns = {}, .body = CloneRead{.buffer = BufferId{1}}};
  sides.a.reads.mode = sides.b.reads.mode = ReadsMode::kNone;
  const LogDiff result = DiffOf(sides, {BufferOp(1), first.op(), second.op(), clone});
  EXPECT_EQ(result.counts.matched, 1u);
  ASSERT_EQ(result.counts[DiffKind::kOnlyInB], 1u);
  EXPECT_EQ(result.packets[DiffKind::kOnlyInB][0].seen().place.clone, 1u);
}

TEST(LogDiffer, BufferSetUpAgain_SettlesWhatWasInIt) {
  const Request first = Request(1).Move(1, Chunk(1, 1, 0).Whole(20, 'a'));
  Both<ReplayOptions> sides = {Side58(), Side58()};
  sides.b.reads.mode = ReadsMode::kEnd;
  const LogDiff result =
      DiffOf(sides, {BufferOp(1), first.op(), DiffReadOp(), BufferOp(1), first.op(), DiffReadOp()});
  // The first is lost to B with its buffer; the second, at the same place, is read by both.
  EXPECT_EQ(result.counts.matched, 1u);
  EXPECT_EQ(result.counts[DiffKind::kOnlyInA], 1u);
}

// The buffer before had a chunk that was read and one that was not: nothing of it is left in the
// new one, but what was read counts for the id.
TEST(LogDiffer, BufferSetUpAgain_StartsEmpty) {
  const Request read = Request(1).Move(1, Chunk(1, 3, 0).Whole(2000, 'r'));
  const Request unread = Request(1).Move(1, Chunk(1, 3, 1).Whole(2000, 'u'));
  const Request first = Request(1).Move(1, Chunk(1, 1, 0).Whole(3000, 'a'));
  const Request second = Request(1).Move(1, Chunk(1, 2, 0).Whole(3000, 'b'));
  Both<ReplayOptions> sides = {Side58(), Side58()};
  sides.b.session.all.size = 8192;
  const LogDiff result = DiffOf(sides, {BufferOp(1), read.op(), DiffReadOp(), unread.op(),
                                        BufferOp(1), first.op(), second.op(), DiffReadOp()});
  ASSERT_TRUE(result.first);
  EXPECT_EQ(result.first->moment.record, 8u);
  EXPECT_EQ(result.first->stats.a.write_wrap_count, 1u);
  EXPECT_EQ(result.first->stats.b.write_wrap_count, 0u);
  const Both<BufferOutcome>& buffers = result.buffers.at(0).sides;
  EXPECT_EQ(buffers.a.read.packets, 2u);
  EXPECT_EQ(buffers.b.read.packets, 3u);
}

// One side does not report what it holds, so that only the new buffer settles what is outstanding.
TEST(LogDiffer, BufferSetUpAgain_DoesNotMatchPacketsOfTheNewOne) {
  static const EngineInfo silent = SilentEngine::Info();
  const Request first = Request(1).Move(1, Chunk(1, 1, 0).Whole(20, 'a'));
  const Request second = Request(1).Move(1, Chunk(1, 1, 0).Whole(20, 'b'));
  Both<ReplayOptions> sides = {Side58(), Side58()};
  sides.a.reads.mode = ReadsMode::kRecorded;
  sides.b.reads.mode = ReadsMode::kEnd;
  sides.b.session.find_engine = [](std::string_view) -> Result<const EngineInfo*> {
    return &silent;
  };
  const LogDiff result =
      DiffOf(sides, {BufferOp(1), first.op(), DiffReadOp(), BufferOp(1), second.op()});
  EXPECT_EQ(result.counts.matched, 0u);
  EXPECT_EQ(result.counts[DiffKind::kContent], 0u);
  EXPECT_EQ(result.counts[DiffKind::kOnlyInA], 1u);
  EXPECT_EQ(result.counts[DiffKind::kOnlyInB], 1u);
}

TEST(LogDiffer, ListedPackets_AreLimitedAndCounted) {
  std::vector<Request> requests;
  for (uint32_t chunk = 0; chunk < 10; ++chunk)
    requests.push_back(Request(1).Move(1, Chunk(1, 1, chunk).Whole(20, 'a')));
  DiffOptions options;
  options.sides.a = options.sides.b = Side58();
  options.sides.b.reads.mode = ReadsMode::kNone;
  options.listed = 3;
  LogDiffer diff(options);
  ASSERT_TRUE(diff.Apply(BufferOp(1), 1));
  for (const Request& request : requests) ASSERT_TRUE(diff.Apply(request.op(), 2));
  const LogDiff result = diff.Finish().value();
  EXPECT_EQ(result.counts[DiffKind::kOnlyInA], 10u);
  EXPECT_EQ(result.packets[DiffKind::kOnlyInA].size(), 3u);
  ASSERT_TRUE(result.first);
  EXPECT_TRUE(result.first->at_end);
}

}  // namespace
}  // namespace ringscope::testing
