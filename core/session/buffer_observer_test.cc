#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/perfetto/data_loss.h"
#include "core/session/replay.h"
#include "core/session/replay_listener.h"
#include "core/testing/session_log.h"

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;

std::string State(const ObservedChunk& chunk) {
  std::string text = fmt::format("{} bytes at {}", chunk.outer_size, chunk.offset);
  if (chunk.payload_avail == 0 && chunk.payload_size > 0)
    text += ", all consumed";
  else if (chunk.consumed() > 0)
    text += fmt::format(", {} of {} consumed", chunk.consumed(), chunk.payload_size);
  if (chunk.incomplete) text += ", incomplete";
  if (chunk.needs_patch()) text += ", needs patching";
  return text;
}

std::string PacketSpan(ChunkName first, const PacketPlace& place) {
  std::string text = fmt::format("the packet at {}+{}", ToString(first), place.first_offset);
  if (place.last_chunk != first.chunk) text += fmt::format(" to #{}", Raw(place.last_chunk));
  return text;
}

/// The event in words, without record and time: "1:4#17 committed: 4,096 bytes at 0".
std::string DescribeEvent(const BufferEvent& event) {
  const std::string chunk = ToString(event.chunk);
  return std::visit(
      Overloaded{
          [&](const BufferEvent::Committed& committed) {
            return fmt::format("{} committed: {}", chunk, State(committed.state));
          },
          [&](const BufferEvent::Rewritten& rewritten) {
            return fmt::format("{} re-committed in place: {}", chunk, State(rewritten.state));
          },
          [&](const BufferEvent::Relocated& relocated) {
            return fmt::format("{} moves to the write cursor, from {}", chunk,
                               relocated.state.offset);
          },
          [&](const BufferEvent::Discarded& discarded) {
            return fmt::format("{} discarded: {}", chunk, RowOf(discarded.reason).text);
          },
          [&](const BufferEvent::Evicting& evicting) {
            return fmt::format("{} evicted for {}: {}", chunk, ToString(evicting.by),
                               State(evicting.state));
          },
          [&](const BufferEvent::Erased&) { return fmt::format("{} leaves the buffer", chunk); },
          [&](const BufferEvent::Patched& patched) {
            return fmt::format("{} patched ({})", chunk, patched.sent.patches.size());
          },
          [&](const BufferEvent::PatchMissed& missed) {
            return fmt::format("{} not patched: {}", chunk,
                               missed.reason == PatchMiss::kNoSuchChunk
                                   ? "it is not in the buffer"
                                   : "the patch is outside of it");
          },
          [&](const BufferEvent::Returned& returned) {
            const Packet& packet = returned.packet;
            return fmt::format("{} read: {} bytes{}", PacketSpan(event.chunk, packet.place),
                               packet.size,
                               packet.dropped == 0
                                   ? ""
                                   : fmt::format(", flagged {}", LossBitsToString(packet.dropped)));
          },
          [&](const BufferEvent::Abandoned& abandoned) {
            return fmt::format("{} abandoned: {}", PacketSpan(event.chunk, abandoned.place),
                               LossBitsToString(abandoned.cause));
          },
          [&](const BufferEvent::Folded& folded) {
            return fmt::format("{} overwritten, but folded into a state: {} bytes",
                               PacketSpan(event.chunk, folded.packet.place), folded.packet.size);
          },
          [&](const BufferEvent::LossBitSet& set) {
            return fmt::format("{}: {} will be flagged on the next packet", chunk,
                               LossBitsToString(set.bit));
          },
          [](const BufferEvent::Wrapped&) { return std::string("the write cursor wraps"); },
          [&](const BufferEvent::Stalled& stalled) {
            return fmt::format("{} stalls its sequence: it waits for {}", chunk,
                               WaitsFor(stalled.reason, "it"));
          }},
      event.body);
}

/// Writes down what happens inside the buffers.
class BufferEventLog : public ReplayListener {
 public:
  struct Erased {
    ChunkName chunk;
    Erasure why;
    std::optional<ChunkName> by, with;
  };

  bool WantsBufferEvents() const override { return true; }
  void OnBufferEvent(const BufferEvent& event) override {
    lines.push_back(std::to_string(event.at.record.value_or(0)) + ": " + DescribeEvent(event));
    records.push_back(event.at.record.value_or(0));
    if (const auto* it = event.As<BufferEvent::Erased>())
      erased.push_back({event.chunk, it->why, it->by, it->with});
    if (const auto* it = event.As<BufferEvent::Committed>()) moved.push_back(it->moved);
  }
  void OnDrainEvent(const BufferEvent& event) override { drained.push_back(DescribeEvent(event)); }

  std::vector<std::string> lines;
  std::vector<uint64_t> records;
  std::vector<Erased> erased;
  std::vector<bool> moved;  // of commits
  std::vector<std::string> drained;
};

BufferEventLog EventLogOf(const std::string& engine, const std::vector<Op>& ops) {
  BufferEventLog log;
  ReplayOptions options;
  options.session.all.engine = engine;
  Replay replay(options, log);
  for (const Op& op : ops) EXPECT_TRUE(replay.Apply(op));
  EXPECT_TRUE(replay.Drain());
  return log;
}

std::vector<std::string> EventsOf(const std::string& engine, const std::vector<Op>& ops) {
  return EventLogOf(engine, ops).lines;
}

Op EventsReadOp() { return {.time_ns = {}, .body = ReadPass{.buffer = BufferId{1}}}; }

// [ c0: a20 | b12-> ] waits for c1; [ c2 ] breaks the chain for good.
TEST(BufferEvents, ReportStallsAndAbandonedPackets) {
  const Request first = Request(1).Move(1, Chunk(1, 1, 0).Whole(20, 'a').Begins(12, 'b'));
  const Request third = Request(1).Move(1, Chunk(1, 1, 2).Whole(8, 'c'));
  EXPECT_THAT(
      EventsOf("v2@58", {BufferOp(1), first.op(), EventsReadOp(), third.op(), EventsReadOp()}),
      ElementsAre("2: 1:1#0 committed: 64 bytes at 0", "3: the packet at 1:1#0+0 read: 20 bytes",
                  "3: 1:1#0 stalls its sequence: it waits for the chunk after it",
                  "4: 1:1#2 committed: 32 bytes at 64",
                  "5: 1:1#0: reassembly_gap will be flagged on the next packet",
                  "5: the packet at 1:1#0+21 abandoned: reassembly_gap",
                  "5: 1:1#0 leaves the buffer",
                  "5: 1:1#2: read_gap will be flagged on the next packet",
                  "5: the packet at 1:1#2+0 read: 8 bytes, flagged read_gap+reassembly_gap",
                  "5: 1:1#2 leaves the buffer"));
}

TEST(BufferEvents, ReportWhoNeededTheSpace) {
  std::vector<Op> ops = {BufferOp(1)};
  const Request first = Request(1).Move(1, Chunk(1, 1, 0).Whole(3000, 'a'));
  const Request second = Request(1).Move(1, Chunk(1, 2, 0).Whole(3000, 'b'));
  EXPECT_THAT(
      EventsOf("v2@58", {BufferOp(1), first.op(), second.op()}),
      ElementsAre("2: 1:1#0 committed: 3024 bytes at 0", "3: the write cursor wraps",
                  "3: 1:1#0 evicted for 1:2#0: 3024 bytes at 0", "3: 1:1#0 leaves the buffer",
                  "3: 1:1#0: overwrite will be flagged on the next packet",
                  "3: 1:2#0 committed: 3024 bytes at 0"));
}

TEST(BufferEvents, V1ReportsWhatASequenceWaitsFor) {
  const Request patchable =
      Request(1).Move(1, Chunk(1, 1, 0).Whole(20, 'a').Begins(12, 'b').NeedsPatching());
  const Request orphan = Request(1).Move(1, Chunk(1, 2, 5).Ends(8, 'c'));
  const Request scraped =
      Request(1).Move(1, Chunk(1, 3, 0).Whole(8, 'd').Whole(4, 'e').Incomplete());
  const Request after = Request(1).Move(1, Chunk(1, 3, 1).Whole(8, 'f'));
  EXPECT_THAT(EventsOf("v1", {BufferOp(1), patchable.op(), orphan.op(), scraped.op(), after.op(),
                              EventsReadOp()}),
              ElementsAre("2: 1:1#0 committed: 64 bytes at 0, needs patching",
                          "3: 1:2#5 committed: 32 bytes at 64",
                          "4: 1:3#0 committed: 32 bytes at 96, incomplete",
                          "5: 1:3#1 committed: 32 bytes at 128",
                          "6: 1:1#0 stalls its sequence: it waits for a patch of it",
                          "6: the packet at 1:2#5+0 abandoned: orphan_continuation",
                          "6: 1:2#5: orphan_continuation will be flagged on the next packet",
                          "6: the packet at 1:3#0+0 read: 8 bytes, flagged present",
                          "6: 1:3#0 stalls its sequence: it waits for the writer to complete it"));
}

TEST(BufferEvents, ReportDiscardsAndMissedPatches) {
  const Request first = Request(1).Move(1, Chunk(1, 1, 3).Whole(8, 'a'));
  const Request again = Request(1).Move(1, Chunk(1, 1, 3).Whole(8, 'a'));
  const Request patch = Request(1).Patch(1, 1, 3, 0, "wxyz");
  EXPECT_THAT(
      EventsOf("v2@58",
               {BufferOp(1), first.op(), patch.op(), EventsReadOp(), again.op(), patch.op()}),
      ::testing::Contains("5: 1:1#3 discarded: this chunk or a newer one was consumed before"));
}

// [ c1 | c0 ] of 1:1; 1:2 needs the space of c1, and what comes before c1 in its sequence goes
// first.
TEST(BufferEvents, Erasure_SaysWhy) {
  const Request later = Request(1).Move(1, Chunk(1, 1, 1).Whole(1000, 'a'));
  const Request earlier = Request(1).Move(1, Chunk(1, 1, 0).Whole(1000, 'b'));
  const Request other = Request(1).Move(1, Chunk(1, 2, 0).Whole(3000, 'c'));
  const BufferEventLog log =
      EventLogOf("v2@58", {BufferOp(1), later.op(), earlier.op(), other.op(), EventsReadOp()});
  ASSERT_EQ(log.erased.size(), 3u);
  const ChunkName by{{ProducerId{1}, WriterId{2}}, ChunkId{0}};
  EXPECT_EQ(log.erased[0].why, Erasure::kCleared);
  EXPECT_EQ(log.erased[0].by, by);
  EXPECT_EQ(log.erased[0].with, log.erased[1].chunk);
  EXPECT_EQ(log.erased[1].why, Erasure::kOverwritten);
  EXPECT_EQ(log.erased[1].by, by);
  EXPECT_FALSE(log.erased[1].with);
  EXPECT_EQ(log.erased[2].why, Erasure::kConsumed);
  EXPECT_FALSE(log.erased[2].by);
}

TEST(BufferEvents, Erasure_OfAChunkThatMoves) {
  const Request scraped =
      Request(1).Move(1, Chunk(1, 1, 0).Whole(20, 'a').Whole(20, 'b').Incomplete());
  const Request whole = Request(1).Move(1, Chunk(1, 1, 0).Whole(20, 'a').Whole(20, 'b'));
  const BufferEventLog log =
      EventLogOf("v2@58", {BufferOp(1), scraped.op(), EventsReadOp(), whole.op()});
  ASSERT_EQ(log.erased.size(), 1u);
  EXPECT_EQ(log.erased[0].why, Erasure::kMoved);
  EXPECT_THAT(log.moved, ElementsAre(false, true));
}

TEST(BufferEvents, Moment_IsThatOfTheRecord) {
  const Request first = Request(1).Move(1, Chunk(1, 1, 0).Whole(20, 'a'));
  const Request second = Request(1).Move(1, Chunk(1, 1, 1).Whole(30, 'b'));
  const BufferEventLog log = EventLogOf("v1", {BufferOp(1), first.op(), second.op()});
  EXPECT_THAT(log.records, ElementsAre(2u, 3u));
}

// What the reading out at the end finds is not part of the log.
TEST(BufferEvents, Drain_IsApart) {
  const Request first = Request(1).Move(1, Chunk(1, 1, 0).Whole(20, 'a'));
  const BufferEventLog log = EventLogOf("v1", {BufferOp(1), first.op()});
  EXPECT_EQ(log.lines.size(), 1u);
  EXPECT_THAT(log.drained,
              ::testing::Contains("the packet at 1:1#0+0 read: 20 bytes, flagged present"));
}

}  // namespace
}  // namespace ringscope::testing
