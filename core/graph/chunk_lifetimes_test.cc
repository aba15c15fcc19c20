#include "core/graph/chunk_lifetimes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/session/replay.h"
#include "core/testing/session_log.h"

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;

/// Each life in a line, when it is over.
class LifeLog : public ChunkLifetimes {
 public:
  std::vector<std::string> lines;

 private:
  void OnChunkEntered(const ChunkLife& life) override {
    if (!life.entered()) Add(life);
  }
  void OnChunkLeft(const ChunkLife& life) override { Add(life); }
  void Add(const ChunkLife& life) {
    std::string line = std::to_string(life.number) + ": " + ToString(life.chunk) + " " +
                       Name(life.entry) + (*life.why != '\0' ? " " : "") + life.why;
    if (life.entered()) {
      line += " at " + std::to_string(life.committed.record.value_or(0)) + ", " + Name(life.exit) +
              " at " + std::to_string(life.left.record.value_or(0));
    }
    if (life.evicted_by_number != 0)
      line += " by " + std::to_string(life.evicted_by_number) + ", " +
              std::to_string(life.unread_bytes) + " unread";
    lines.push_back(line);
  }
};

std::vector<std::string> LivesOf(const std::string& engine, const std::vector<Op>& ops) {
  LifeLog lives;
  ReplayOptions options;
  options.session.all.engine = engine;
  options.reads.mode = ReadsMode::kRecorded;
  Replay replay(options, lives);
  for (const Op& op : ops) EXPECT_TRUE(replay.Apply(op));
  lives.Finish();
  EXPECT_EQ(lives.HeldBytes(BufferId{1}), 0u);
  return lives.lines;
}

Op LifetimeReadOp() { return {.time_ns = {}, .body = ReadPass{.buffer = BufferId{1}}}; }

TEST(ChunkLifetimes, Evicted_NamesTheCommitThatNeededTheSpace) {
  const Request first = Request(1).Move(1, Chunk(1, 1, 0).Whole(3000, 'a'));
  const Request second = Request(1).Move(1, Chunk(1, 2, 7).Whole(3000, 'a'));
  EXPECT_THAT(LivesOf("v2@58", {BufferOp(1), first.op(), second.op()}),
              ElementsAre("1: 1:1#0 committed at 2, evicted at 3 by 2, 3002 unread",
                          "2: 1:2#7 committed at 3, held at 3"));
}

TEST(ChunkLifetimes, Read_EndsALifeInV2_NotInV1) {
  const Request first = Request(1).Move(1, Chunk(1, 1, 0).Whole(9, 'a'));
  EXPECT_THAT(LivesOf("v2@58", {BufferOp(1), first.op(), LifetimeReadOp()}),
              ElementsAre("1: 1:1#0 committed at 2, read at 3"));
  // V1 keeps what was read until something is written over it.
  EXPECT_THAT(LivesOf("v1", {BufferOp(1), first.op(), LifetimeReadOp()}),
              ElementsAre("1: 1:1#0 committed at 2, held at 3"));
}

TEST(ChunkLifetimes, SentAgain_LivesAgain) {
  const Request scraped =
      Request(1).Move(1, Chunk(1, 1, 0).Whole(9, 'a').Whole(9, 'a').Incomplete());
  const Request whole = Request(1).Move(1, Chunk(1, 1, 0).Whole(9, 'a').Whole(9, 'a'));
  EXPECT_THAT(
      LivesOf("v2@58", {BufferOp(1), scraped.op(), whole.op()}),
      ElementsAre("1: 1:1#0 committed at 2, replaced at 3", "2: 1:1#0 rewritten at 3, held at 3"));
  EXPECT_THAT(
      LivesOf("v1", {BufferOp(1), whole.op(), whole.op()}),
      ElementsAre("1: 1:1#0 committed at 2, replaced at 3", "2: 1:1#0 rewritten at 3, held at 3"));
}

TEST(ChunkLifetimes, NotTaken_SaysWhy) {
  BufferSetUp setup;
  setup.id = BufferId{1};
  setup.size = 4096;
  setup.policy = FillPolicy::kDiscard;
  const Request large = Request(1).Move(1, Chunk(1, 1, 0).Whole(3000, 'a'));
  const Request more = Request(1).Move(1, Chunk(1, 1, 1).Whole(3000, 'a'));
  const Request stray = Request(1).Move(3, Chunk(1, 1, 2).Whole(9, 'a'));
  EXPECT_THAT(
      LivesOf("v2@58", {Op{.time_ns = {}, .body = setup}, large.op(), more.op(), stray.op()}),
      ElementsAre("2: 1:1#1 discarded full", "3: 1:1#2 refused no_such_buffer",
                  "1: 1:1#0 committed at 2, held at 4"));
}

}  // namespace
}  // namespace ringscope::testing
