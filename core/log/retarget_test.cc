#include "core/log/retarget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/session/replay.h"
#include "core/testing/ops_in_memory.h"
#include "core/testing/session_log.h"

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;

RetargetRule Writer(uint16_t producer, uint16_t writer, uint16_t buffer) {
  return {ProducerId{producer}, WriterId{writer}, BufferId{buffer}};
}
RetargetRule Producer(uint16_t producer, uint16_t buffer) {
  return {ProducerId{producer}, std::nullopt, BufferId{buffer}};
}
template <typename Body>
Op Record(Body body) {
  return {.time_ns = {}, .body = body};
}

/// What a replay with the split does, a line each, with all buffers read at the end.
struct SplitRun {
  SplitRun(std::vector<Op> ops, std::vector<RetargetRule> rules, Session::Options options = {})
      : records(std::move(ops)), split(records, std::move(rules)) {
    Replay replay({.session = options}, log);
    while (const auto op = split.Next().value()) EXPECT_TRUE(replay.Apply(*op));
    EXPECT_TRUE(replay.Finish());
    for (const auto& [id, buffer] : replay.session().buffers())
      buffers.push_back(std::to_string(Raw(id)) + ": index " + std::to_string(buffer.index) + ", " +
                        std::to_string(buffer.requested_size) + (buffer.freed ? ", freed" : ""));
    discarded = replay.session().stats().chunks_discarded;
  }

  OpsInMemory records;
  RetargetSource split;
  SessionLog log;
  std::vector<std::string> buffers;
  uint64_t discarded = 0;
};

TEST(Split, Writer_GoesIntoANewBufferLikeItsOwn) {
  const Request request =
      Request(1).Move(3, Chunk(1, 1, 0).Whole(20, 'a')).Move(3, Chunk(1, 2, 0).Whole(30, 'b'));
  const SplitRun run({BufferOp(3, 8192), request.op()}, {Writer(1, 2, 9)});
  EXPECT_THAT(run.buffers, ElementsAre("3: index 0, 8192", "9: index 1, 8192"));
  EXPECT_THAT(run.log.lines, ElementsAre("a20 invalid", "read 3: 1", "b30 invalid", "read 9: 1"));
}

TEST(Split, Producer_MovesAllItsWritersAndNoOther) {
  const Request own =
      Request(1).Move(3, Chunk(1, 1, 0).Whole(20, 'a')).Move(3, Chunk(1, 2, 0).Whole(30, 'b'));
  const Request other = Request(2).Move(3, Chunk(2, 1, 0).Whole(40, 'c'));
  const SplitRun run({BufferOp(3), own.op(), other.op()}, {Producer(1, 9)});
  EXPECT_THAT(run.log.lines,
              ElementsAre("c40 invalid", "read 3: 1", "a20 invalid", "b30 invalid", "read 9: 2"));
}

TEST(Split, RuleForAWriter_WinsOverItsProducers) {
  const Request request =
      Request(1).Move(3, Chunk(1, 1, 0).Whole(20, 'a')).Move(3, Chunk(1, 2, 0).Whole(30, 'b'));
  const SplitRun run({BufferOp(3), request.op()}, {Producer(1, 9), Writer(1, 2, 8)});
  EXPECT_THAT(run.log.lines,
              ElementsAre("read 3: 0", "a20 invalid", "read 9: 1", "b30 invalid", "read 8: 1"));
}

TEST(Split, ExistingBuffer_TakesTheChunks) {
  const Request request = Request(1).Move(3, Chunk(1, 1, 0).Whole(20, 'a'));
  const SplitRun run({BufferOp(3), BufferOp(4, 8192), request.op()}, {Writer(1, 1, 4)});
  EXPECT_THAT(run.buffers, ElementsAre("3: index 0, 4096", "4: index 1, 8192"));
  EXPECT_THAT(run.log.lines, ElementsAre("read 3: 0", "a20 invalid", "read 4: 1"));
}

TEST(Split, Patches_FollowTheirChunks) {
  const Request chunk = Request(1).Move(3, Chunk(1, 1, 0).Whole(4, 'a').NeedsPatching());
  const Request patch = Request(1).Patch(3, 1, 0, 1, "\x12\x02\x08\x05");
  const SplitRun run({BufferOp(3), chunk.op(), patch.op()}, {Writer(1, 1, 9)});
  EXPECT_EQ(run.log.lines.front(), "patched");
}

TEST(Split, Registrations_MoveWithTheWriter) {
  const Request request = Request(1).Move(3, Chunk(1, 1, 0).Whole(20, 'a'));
  const SplitRun run(
      {BufferOp(3), Record(ProducerConnected{.producer = ProducerId{1}, .name = "p"}),
       Record(SharedMemorySetUp{ProducerId{1}, 4096, 4096}),
       Record(DataSourceSetUp{ProducerId{1}, 1, "track", BufferId{3}}),
       Record(WriterRegistered{ProducerId{1}, WriterId{1}, BufferId{3}}), request.op()},
      {Writer(1, 1, 9)});
  EXPECT_THAT(run.log.lines, ElementsAre("read 3: 0", "a20 invalid", "read 9: 1"));
  EXPECT_EQ(run.discarded, 0u);
}

TEST(Split, Programs_MoveWithTheirProducer) {
  const auto program = [](uint16_t producer) {
    return Record(ProtoVmSetUp{.buffer = BufferId{1},
                               .producer = ProducerId{producer},
                               .data_source = "source",
                               .program = "",
                               .memory_limit_kb = 16});
  };
  OpsInMemory records({BufferOp(1), program(1), program(2)});
  RetargetSource split(records, std::vector{Writer(1, 3, 5)});
  std::vector<std::string> set_up;
  while (const auto op = split.Next().value())
    if (const auto* const setup = std::get_if<ProtoVmSetUp>(&op->body))
      set_up.push_back(std::to_string(Raw(setup->producer)) + " in " +
                       std::to_string(Raw(setup->buffer)));
  // The producer's other writers stay where they are, with a state of their own.
  EXPECT_THAT(set_up, ElementsAre("1 in 1", "1 in 5", "2 in 1"));
}

TEST(Split, RefusedChunks_StayRefused) {
  const Request no_buffer = Request(1).Move(7, Chunk(1, 1, 0).Whole(20, 'a'));
  const Request no_right = Request(1).Move(4, Chunk(1, 1, 1).Whole(20, 'b'));
  const SplitRun run(
      {BufferOp(3), BufferOp(4), Record(DataSourceSetUp{ProducerId{1}, 1, "track", BufferId{3}}),
       no_buffer.op(), no_right.op()},
      {Writer(1, 1, 9)});
  EXPECT_EQ(run.discarded, 2u);
  EXPECT_THAT(run.split.UnusedRules(), ElementsAre(Writer(1, 1, 9)));
}

TEST(Split, ChunksOfProducersThatMayNotCommit_AreNotMoved) {
  const Request unknown = Request(2).Move(3, Chunk(2, 1, 0).Whole(20, 'a'));
  const Request too_early = Request(1).Move(3, Chunk(1, 1, 0).Whole(20, 'b'));
  const Request gone = Request(1).Move(3, Chunk(1, 1, 1).Whole(20, 'c'));
  const SplitRun run(
      {BufferOp(3), Record(ProducerConnected{.producer = ProducerId{1}, .name = ""}),
       Record(ProducerConnected{.producer = ProducerId{4}, .name = "", .smb_size = 4096}),
       unknown.op(), too_early.op(), Record(SharedMemorySetUp{ProducerId{1}, 4096, 4096}),
       Record(ProducerDisconnected{ProducerId{1}}), gone.op()},
      {Producer(1, 9), Producer(2, 9)});
  EXPECT_THAT(run.split.UnusedRules(), ElementsAre(Producer(1, 9), Producer(2, 9)));
  EXPECT_THAT(run.buffers, ElementsAre("3: index 0, 4096"));
  EXPECT_EQ(run.discarded, 2u) << "the service counts no chunks of a request that it ignores";
}

TEST(Split, ChunkOfAPageThatIsNotThere_IsRefusedByOlderReleasesOfItsNewBuffer) {
  const Request usual = Request(1).Move(3, Chunk(1, 1, 0).Whole(20, 'a'));
  Op op = usual.op();
  CommitRequestParser parser;
  parser.Parse(std::get<Commit>(op.body).request);
  ChunkToMove chunk = parser.chunks().front();
  chunk.page = 1;  // there is one page, 0
  std::string request;
  CommitRequestBuilder(request).AddChunk(chunk);
  std::get<Commit>(op.body).request = wire::AsBytes(request);
  std::get<Commit>(op.body).origin = Origin::kInline;
  const std::vector<Op> ops = {BufferOp(3), Record(SharedMemorySetUp{ProducerId{1}, 4096, 4096}),
                               op};
  const SplitRun newer(ops, {Writer(1, 1, 9)}, {.all = {.engine = "v2@57"}});
  EXPECT_THAT(newer.buffers, ElementsAre("3: index 0, 4096", "9: index 1, 4096"));
  EXPECT_THAT(newer.log.lines, ElementsAre("read 3: 0", "a20 invalid", "read 9: 1"));
  const SplitRun older(ops, {Writer(1, 1, 9)}, {.all = {.engine = "v2@56"}});
  EXPECT_THAT(older.log.lines, ElementsAre("read 3: 0", "read 9: 0"));
}

TEST(Split, NewBuffer_IsReadClonedAndFreedWithItsOrigin) {
  const Request request = Request(1).Move(3, Chunk(1, 1, 0).Whole(20, 'a'));
  ReadPass read;
  read.buffer = BufferId{3};
  const SplitRun run({BufferOp(3), request.op(), Record(CloneRead{BufferId{3}}), Record(read),
                      Record(BufferFreed{BufferId{3}})},
                     {Writer(1, 1, 9)});
  EXPECT_THAT(run.log.lines, ElementsAre("clone: 0", "clone a20", "clone: 1", "read 3: 0",
                                         "a20 invalid", "read 9: 1"));
  EXPECT_THAT(run.buffers, ElementsAre("3: index 0, 4096, freed", "9: index 1, 4096, freed"));
}

TEST(Split, WithoutRules_ChangesNothing) {
  const Request request = Request(1).Move(3, Chunk(1, 1, 0).Whole(20, 'a'));
  const SplitRun run({BufferOp(3), request.op()}, {});
  EXPECT_THAT(run.log.lines, ElementsAre("a20 invalid", "read 3: 1"));
}

}  // namespace
}  // namespace ringscope::testing
