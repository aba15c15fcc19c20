#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/text.h"
#include "core/graph/layout_map.h"
#include "core/session/replay.h"
#include "core/testing/session_log.h"

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ReadWalk WalkOf(const std::string& engine, const std::vector<Op>& ops, LayoutMoment moment = {}) {
  ReplayOptions options;
  options.session.all.engine = engine;
  options.reads.mode = ReadsMode::kRecorded;
  ReadWalks walks(moment);
  Replay replay(options, walks);
  for (const Op& op : ops) EXPECT_TRUE(replay.Apply(op));
  EXPECT_TRUE(replay.Finish());
  EXPECT_EQ(walks.walks().size(), 1u);
  EXPECT_TRUE(walks.walks().at(0).status);
  return walks.walks().at(0);
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
