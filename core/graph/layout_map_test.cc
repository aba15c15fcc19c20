#include "core/graph/layout_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/text.h"
#include "core/session/replay.h"
#include "core/testing/graph_run.h"
#include "core/testing/session_log.h"

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// "0 1:1#0 48 (8/29)": offset, chunk, bytes, consumed of payload; "3056 padding 1040".
std::vector<std::string> Map(const BufferLayout& layout) {
  std::vector<std::string> lines;
  for (const LayoutExtent& extent : layout.extents) {
    std::string line = std::to_string(extent.offset) + " ";
    line += extent.kind == LayoutExtent::Kind::kChunk ? ToString(extent.chunk) : Name(extent.kind);
    line += " " + std::to_string(extent.size);
    if (extent.kind == LayoutExtent::Kind::kChunk)
      line +=
          " (" + std::to_string(extent.consumed) + "/" + std::to_string(extent.payload_size) + ")";
    lines.push_back(line);
  }
  return lines;
}

BufferLayout LayoutOf(const std::string& engine, const std::vector<Op>& ops,
                      std::optional<LayoutMoment> moment = LayoutMoment{}) {
  ReplayOptions options;
  options.session.all.engine = engine;
  options.reads.mode = ReadsMode::kRecorded;
  GraphRun run(options, {}, moment);
  for (const Op& op : ops) EXPECT_TRUE(run.Apply(op));
  EXPECT_TRUE(run.Finish());
  const BufferLayout layout = run.layout.buffers().at(0);
  EXPECT_TRUE(layout.status);
  return layout;
}

Op Read(uint64_t packets) {
  return {.time_ns = {}, .body = ReadPass{.buffer = BufferId{1}, .max_packets = packets}};
}

class LayoutMapTest : public ::testing::Test {
 protected:
  const Request a_ = Request(1).Move(1, Chunk(1, 1, 0).Whole(20, 'a').Whole(8, 'b'));
  const Request b_ = Request(1).Move(1, Chunk(1, 2, 0).Whole(3000, 'c'));
  const Request c_ = Request(1).Move(1, Chunk(1, 1, 1).Whole(1500, 'd'));
};

TEST_F(LayoutMapTest, WithoutAMoment_IsBeforeTheLastReadThatReturnedPackets) {
  const std::vector<Op> ops = {BufferOp(1), a_.op(), Read(99), b_.op(), Read(99), Read(99)};
  const BufferLayout layout = LayoutOf("v2@58", ops, std::nullopt);
  EXPECT_TRUE(layout.before_read);
  EXPECT_THAT(Map(layout), ::testing::Contains(::testing::HasSubstr("1:2#0")));
  for (const LayoutExtent& extent : layout.extents) {
    if (extent.chunk.sequence.writer == WriterId{2}) {
      EXPECT_EQ(extent.consumed, 0u);
    }
  }
  // What came late is read in reads of its own.
  const Request late = Request(1).Move(1, Chunk(1, 2, 1).Whole(3, 'd'));
  Request many(1);
  Chunk chunk(1, 3, 0);
  for (int i = 0; i < 30; ++i) chunk.Whole(3, 'e');
  const BufferLayout large =
      LayoutOf("v2@58", {BufferOp(1), many.Move(1, chunk).op(), Read(99), late.op(), Read(99)},
               std::nullopt);
  EXPECT_THAT(Map(large), ::testing::Contains(::testing::HasSubstr("1:3#0")));
  EXPECT_THAT(Map(large), ::testing::Not(::testing::Contains(::testing::HasSubstr("1:2#1"))));
  // A log without reads has its end alone.
  EXPECT_FALSE(LayoutOf("v2@58", {BufferOp(1), a_.op()}, std::nullopt).before_read);
}

// | a20 b8 | c3000 | unused |
TEST_F(LayoutMapTest, Chunks_AreBackToBack) {
  const BufferLayout layout = LayoutOf("v2@58", {BufferOp(1), a_.op(), b_.op()});
  EXPECT_THAT(Map(layout),
              ElementsAre("0 1:1#0 48 (0/30)", "48 1:2#0 3024 (0/3002)", "3072 unused 1024"));
  EXPECT_EQ(layout.write_cursor, 3072u);
  EXPECT_EQ(layout.size, 4096u);
}

TEST_F(LayoutMapTest, WhatWasRead_IsConsumed) {
  const BufferLayout one = LayoutOf("v2@58", {BufferOp(1), a_.op(), b_.op(), Read(1)});
  EXPECT_THAT(Map(one),
              ElementsAre("0 1:1#0 48 (21/30)", "48 1:2#0 3024 (0/3002)", "3072 unused 1024"));
  const BufferLayout all = LayoutOf("v2@58", {BufferOp(1), a_.op(), b_.op(), Read(9)});
  EXPECT_THAT(Map(all), ElementsAre("0 padding 48", "48 padding 3024", "3072 unused 1024"));
}

TEST_F(LayoutMapTest, V1_KeepsWhatWasRead) {
  const BufferLayout layout = LayoutOf("v1", {BufferOp(1), a_.op(), b_.op(), Read(9)});
  EXPECT_THAT(Map(layout),
              ElementsAre("0 1:1#0 48 (32/32)", "48 1:2#0 3024 (3008/3008)", "3072 unused 1024"));
}

// The third chunk does not fit to the end: it goes over the first two.
TEST_F(LayoutMapTest, Wraps_LeavePadding) {
  const BufferLayout layout = LayoutOf("v2@58", {BufferOp(1), a_.op(), b_.op(), c_.op()});
  EXPECT_THAT(Map(layout),
              ElementsAre("0 1:1#1 1520 (0/1502)", "1520 padding 1552", "3072 unused 1024"));
  EXPECT_EQ(layout.write_cursor, 1520u);
  EXPECT_EQ(layout.wraps, 1u);
}

TEST_F(LayoutMapTest, Moment_IsAfterARecordOrATime) {
  std::vector<Op> ops = {BufferOp(1), a_.op(), b_.op(), c_.op()};
  for (uint64_t i = 0; i < ops.size(); ++i) ops[i].time_ns = 1000 + 10 * i;
  const std::vector<std::string> one = Map(LayoutOf("v2@58", {ops[0], ops[1]}));
  EXPECT_EQ(Map(LayoutOf("v2@58", ops, LayoutMoment{.record = 2, .offset_ns = {}})), one);
  EXPECT_EQ(Map(LayoutOf("v2@58", ops, LayoutMoment{.record = {}, .offset_ns = 10})), one);
  const BufferLayout at = LayoutOf("v2@58", ops, LayoutMoment{.record = {}, .offset_ns = 19});
  EXPECT_EQ(Map(at), one);
  EXPECT_EQ(at.at.record, 2u);
  EXPECT_EQ(Map(LayoutOf("v2@58", ops, LayoutMoment{.record = 99, .offset_ns = {}})),
            Map(LayoutOf("v2@58", ops)));
}

// What the accounting at the end reads out is still unread.
TEST_F(LayoutMapTest, TheEnd_IsBeforeAnybodyReadsTheBufferOut) {
  const BufferLayout layout = LayoutOf("v2@58", {BufferOp(1), a_.op()});
  EXPECT_EQ(layout.extents.front().unread(), 30u);
}

// Two sequences, the first partly read, 16 bytes to a cell.
TEST(Layout, Grid_ShowsWhoHasMostOfACell) {
  BufferLayout layout;
  layout.size = 128;
  const SequenceKey a{ProducerId{1}, WriterId{1}}, b{ProducerId{1}, WriterId{2}};
  layout.extents = {
      {.kind = LayoutExtent::Kind::kChunk,
       .offset = 0,
       .size = 48,
       .chunk = {a, ChunkId{0}},
       .payload_size = 32,
       .consumed = 16},
      {.kind = LayoutExtent::Kind::kPadding, .offset = 48, .size = 16},
      {.kind = LayoutExtent::Kind::kChunk,
       .offset = 64,
       .size = 32,
       .chunk = {b, ChunkId{0}},
       .payload_size = 16},
      {.kind = LayoutExtent::Kind::kUnused, .offset = 96, .size = 32},
  };
  const LayoutGrid fine = MakeGrid(layout, 100);
  EXPECT_EQ(fine.bytes_per_cell, 16u);
  std::string cells;
  for (const LayoutCell& cell : fine.cells)
    cells += std::to_string(cell.share) + (cell.consumed ? "-" : "") + (cell.starts ? "! " : " ");
  EXPECT_EQ(cells, "0-! 0- 0 2 1! 1 3 3 ");
  EXPECT_EQ(MakeGrid(layout, 2).cells.size(), 2u);
  const std::vector<LayoutShare>& shares = fine.shares;
  ASSERT_EQ(shares.size(), 4u);
  EXPECT_EQ(shares[0].sequence, a);
  EXPECT_EQ(shares[0].unread, 16u);
}

ReadWalk WalkOf(const std::string& engine, const std::vector<Op>& ops, LayoutMoment moment = {}) {
  ReplayOptions options;
  options.session.all.engine = engine;
  options.reads.mode = ReadsMode::kRecorded;
  ReadWalks walks(moment);
  Replay replay(options, walks);
  for (const Op& op : ops) EXPECT_TRUE(replay.Apply(op));
  EXPECT_TRUE(replay.Finish());
  EXPECT_EQ(walks.buffers().size(), 1u);
  EXPECT_TRUE(walks.buffers().at(0).status);
  return walks.buffers().at(0);
}

/// "1:1 #0-#1 3 packets"
std::vector<std::string> Steps(const ReadWalk& walk) {
  std::vector<std::string> lines;
  for (const ReadStep& step : walk.steps)
    lines.push_back(ToString(step.sequence) + " #" + std::to_string(Raw(step.first_chunk)) + "-#" +
                    std::to_string(Raw(step.last_chunk)) + " " +
                    std::to_string(step.packets.packets));
  return lines;
}

std::vector<std::string> Stalls(const ReadWalk& walk) {
  std::vector<std::string> lines;
  for (const ReadStall& stall : walk.stalls)
    lines.push_back(ToString(stall.chunk) + " " + Name(stall.reason) + " #" +
                    std::to_string(Raw(stall.waits_for)) + " " + std::to_string(stall.chunks));
  return lines;
}

class ReadWalkTest : public ::testing::Test {
 protected:
  // [ 2:1#1 ][ 1:1#0 ][ 2:1#0 ]
  const Request newer_ = Request(2).Move(1, Chunk(2, 1, 1).Whole(20, 'b').Whole(20, 'c'));
  const Request other_ = Request(1).Move(1, Chunk(1, 1, 0).Whole(30, 'x'));
  const Request older_ = Request(2).Move(1, Chunk(2, 1, 0).Whole(20, 'a'));
  const std::vector<Op> ops_ = {BufferOp(1), newer_.op(), other_.op(), older_.op()};
};

TEST_F(ReadWalkTest, V2ReadsTheOlderChunksOfASequenceFirst) {
  const ReadWalk walk = WalkOf("v2@58", ops_);
  EXPECT_THAT(Steps(walk), ElementsAre("2:1 #0-#1 3", "1:1 #0-#0 1"));
  EXPECT_THAT(walk.stalls, IsEmpty());
}

TEST_F(ReadWalkTest, V1ReadsBySequence) {
  const ReadWalk walk = WalkOf("v1", ops_);
  EXPECT_THAT(Steps(walk), ElementsAre("1:1 #0-#0 1", "2:1 #0-#1 3"));
}

TEST_F(ReadWalkTest, TheMomentDecidesWhatIsThere) {
  EXPECT_THAT(Steps(WalkOf("v2@58", ops_, {.record = 2, .offset_ns = {}})),
              ElementsAre("2:1 #1-#1 2"));
}

TEST_F(ReadWalkTest, WhatStaysHasAReason) {
  const Request begins = Request(3).Move(1, Chunk(3, 1, 7).Whole(8, 'y').Begins(20, 'z'));
  const Request unpatched = Request(3).Move(1, Chunk(3, 2, 4).Whole(8, 'p').NeedsPatching());
  const Request after = Request(3).Move(1, Chunk(3, 2, 5).Whole(8, 'q'));
  const ReadWalk walk = WalkOf("v1", {BufferOp(1), begins.op(), unpatched.op(), after.op()});
  EXPECT_THAT(Steps(walk), ElementsAre("3:1 #7-#7 1"));
  EXPECT_THAT(Stalls(walk), ElementsAre("3:1#7 missing_chunk #7 1", "3:2#4 needs_patch #4 2"));
}

TEST_F(ReadWalkTest, V1StopsAtAGapUntilWhatIsBeforeItIsGone) {
  std::vector<Request> requests;
  std::vector<Op> ops = {BufferOp(1)};
  for (const uint32_t id : {1u, 2u, 5u, 6u})
    requests.push_back(Request(1).Move(1, Chunk(1, 1, id).Whole(20, 'a')));
  for (const Request& request : requests) ops.push_back(request.op());
  EXPECT_THAT(Steps(WalkOf("v1", ops)), ElementsAre("1:1 #1-#2 2"));
  EXPECT_THAT(Steps(WalkOf("v2@58", ops)), ElementsAre("1:1 #1-#6 4"));
  // What was read stays, so the next pass stops there as well.
  ops.push_back({.time_ns = {}, .body = ReadPass{.buffer = BufferId{1}}});
  const ReadWalk after = WalkOf("v1", ops, {.record = ops.size()});
  EXPECT_THAT(Steps(after), IsEmpty());
  EXPECT_THAT(Stalls(after), ElementsAre("1:1#5 missing_chunk #2 2"));
}

}  // namespace
}  // namespace ringscope::testing
