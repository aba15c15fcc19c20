#include "core/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/replay.h"
#include "core/testing/session_log.h"

namespace ringscope {
namespace {

using testing::BufferOp;
using testing::Chunk;
using ::testing::ElementsAre;
using testing::Request;
using testing::SessionLog;

std::vector<std::string> JournalOf(const std::string& engine, const std::vector<Op>& ops) {
  std::vector<std::string> lines;
  Journal journal([&](const JournalEvent& event) {
    lines.push_back(std::to_string(event.record) + ": " + Describe(event));
  });
  ReplayOptions options;
  options.session.all.engine = engine;
  options.session.observe = [&](BufferId id) { return journal.Observer(id); };
  SessionLog sink;
  Replay replay(options, sink);
  uint64_t number = 0;
  for (const Op& op : ops) {
    journal.BeginRecord(++number, op.time_ns);
    EXPECT_TRUE(replay.Apply(op));
  }
  return lines;
}

Op ReadOp() { return {.time_ns = {}, .body = ReadPass{.buffer = BufferId{1}}}; }

// [ c0: a20 | b12-> ] waits for c1; [ c2 ] breaks the chain for good.
TEST(JournalTest, TellsStallsAndPacketsGivenUp) {
  const Request first = Request(1).Move(1, Chunk(1, 1, 0).Whole(20, 'a').Begins(12, 'b'));
  const Request third = Request(1).Move(1, Chunk(1, 1, 2).Whole(8, 'c'));
  EXPECT_THAT(
      JournalOf("v2@58", {BufferOp(1), first.op(), ReadOp(), third.op(), ReadOp()}),
      ElementsAre("2: 1:1#0 committed: 64 bytes at 0", "3: the packet at 1:1#0+0 read: 20 bytes",
                  "3: 1:1#0 stalls its sequence: it waits for the chunk behind it",
                  "4: 1:1#2 committed: 32 bytes at 64",
                  "5: 1:1#0: reassembly_gap is noted for the next packet",
                  "5: the packet at 1:1#0+21 given up: reassembly_gap",
                  "5: 1:1#0 leaves the buffer", "5: 1:1#2: read_gap is noted for the next packet",
                  "5: the packet at 1:1#2+0 read: 8 bytes, flagged read_gap+reassembly_gap",
                  "5: 1:1#2 leaves the buffer"));
}

TEST(JournalTest, TellsWhoNeededTheRoom) {
  std::vector<Op> ops = {BufferOp(1)};
  const Request first = Request(1).Move(1, Chunk(1, 1, 0).Whole(3000, 'a'));
  const Request second = Request(1).Move(1, Chunk(1, 2, 0).Whole(3000, 'b'));
  EXPECT_THAT(
      JournalOf("v2@58", {BufferOp(1), first.op(), second.op()}),
      ElementsAre("2: 1:1#0 committed: 3024 bytes at 0", "3: the write cursor wraps",
                  "3: 1:1#0 evicted for 1:2#0: 3024 bytes at 0", "3: 1:1#0 leaves the buffer",
                  "3: 1:1#0: overwrite is noted for the next packet",
                  "3: 1:2#0 committed: 3024 bytes at 0"));
}

TEST(JournalTest, V1TellsWhatASequenceWaitsFor) {
  const Request patchable =
      Request(1).Move(1, Chunk(1, 1, 0).Whole(20, 'a').Begins(12, 'b').NeedsPatching());
  const Request orphan = Request(1).Move(1, Chunk(1, 2, 5).Ends(8, 'c'));
  const Request scraped =
      Request(1).Move(1, Chunk(1, 3, 0).Whole(8, 'd').Whole(4, 'e').Incomplete());
  const Request behind = Request(1).Move(1, Chunk(1, 3, 1).Whole(8, 'f'));
  EXPECT_THAT(
      JournalOf("v1",
                {BufferOp(1), patchable.op(), orphan.op(), scraped.op(), behind.op(), ReadOp()}),
      ElementsAre(
          "2: 1:1#0 committed: 64 bytes at 0, needs patching", "3: 1:2#5 committed: 32 bytes at 64",
          "4: 1:3#0 committed: 32 bytes at 96, incomplete", "5: 1:3#1 committed: 32 bytes at 128",
          "6: 1:1#0 stalls its sequence: it waits for a patch of it",
          "6: the packet at 1:2#5+0 given up: orphan_continuation",
          "6: 1:2#5: orphan_continuation is noted for the next packet",
          "6: the packet at 1:3#0+0 read: 8 bytes, flagged present",
          "6: 1:3#0 stalls its sequence: it waits for its completion"));
}

TEST(JournalTest, TellsDiscardsAndMissedPatches) {
  const Request first = Request(1).Move(1, Chunk(1, 1, 3).Whole(8, 'a'));
  const Request again = Request(1).Move(1, Chunk(1, 1, 3).Whole(8, 'a'));
  const Request patch = Request(1).Patch(1, 1, 3, 0, "wxyz");
  EXPECT_THAT(
      JournalOf("v2@58", {BufferOp(1), first.op(), patch.op(), ReadOp(), again.op(), patch.op()}),
      ::testing::Contains("5: 1:1#3 discarded: this chunk or a newer one was consumed before"));
}

}  // namespace
}  // namespace ringscope
