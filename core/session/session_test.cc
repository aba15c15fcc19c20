#include "core/session/session.h"

#include <gmock/gmock.h>

#include "core/testing/message_text.h"
#include "core/testing/session_log.h"

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SessionTest : public ::testing::Test {
 protected:
  void Apply(const Op& op) {
    const Status status = session_.Apply(op);
    ASSERT_TRUE(status) << status.error().ToString();
  }
  template <typename Body>
  void Apply(Body body) {
    Apply(Op{.time_ns = {}, .body = std::move(body)});
  }
  void Connect(uint16_t producer) {
    ProducerConnected connected;
    connected.producer = ProducerId{producer};
    connected.uid = 500;
    connected.pid = 50;
    Apply(connected);
  }
  std::vector<std::string> Read(uint16_t buffer) {
    log_.lines.clear();
    EXPECT_TRUE(session_.ReadBuffer(BufferId{buffer}, {}));
    return log_.lines;
  }

  SessionLog log_;
  Session session_{{}, log_};
};

TEST_F(SessionTest, PlainOperations_AllowEverything) {
  Apply(BufferOp(0));
  Apply(Request(7).Move(0, Chunk(7, 0, 0).Whole(4, 'a')).op());
  EXPECT_THAT(Read(0), ElementsAre("a4 invalid", "read 0: 1"));
  EXPECT_EQ(session_.stats().chunks_discarded, 0u);
  EXPECT_EQ(session_.stats().invalid_packets, 1u) << "four times field 12, fixed64: no packet";
}

TEST_F(SessionTest, UnknownBuffer_IsAServiceDiscardAndAWarning) {
  Apply(BufferOp(0));
  Apply(Request(1).Move(5, Chunk(1, 1, 0).Whole(4, 'a')).Move(5, Chunk(1, 1, 1)).op());
  EXPECT_EQ(session_.stats().chunks_discarded, 2u);
  EXPECT_THAT(log_.warnings, ElementsAre(HasSubstr("buffer 5")));
  Apply(Request(1).Patch(5, 1, 0, 0, "wxyz").op());
  EXPECT_EQ(session_.stats().patches_discarded, 1u);
  EXPECT_THAT(log_.lines, ElementsAre("not patched"));
}

// The request is not dropped for it; and writer ids and offsets are cut before they are checked.
TEST_F(SessionTest, MalformedEntry_CountsAsFarAsItWasRead) {
  Apply(BufferOp(0));
  Connect(1);
  const std::string patch =
      Uint(proto::CommitDataRequest::ChunkToPatch::Patch::kOffset, (uint64_t{1} << 32) + 1) +
      Sub(proto::CommitDataRequest::ChunkToPatch::Patch::kData, "abcd");
  const std::string entry = Uint(proto::CommitDataRequest::ChunkToPatch::kTargetBuffer, 0) +
                            Uint(proto::CommitDataRequest::ChunkToPatch::kWriterId, 0x10001) +
                            Uint(proto::CommitDataRequest::ChunkToPatch::kChunkId, 0) +
                            Sub(proto::CommitDataRequest::ChunkToPatch::kPatches, patch) +
                            "\x0B";  // a group: no service reads it
  const std::string request = Sub(proto::CommitDataRequest::kChunksToPatch, entry);
  Apply(Request(1).Move(0, Chunk(1, 1, 0).Whole(8, 'h').NeedsPatching()).op());
  Apply(Request(1).Raw(request).op());
  EXPECT_EQ(session_.stats().malformed_requests, 0u);
  EXPECT_THAT(log_.lines, ElementsAre("patched"));
}

TEST_F(SessionTest, ReservedFields_DependOnTheBuffersRelease) {
  BufferSetUp old;
  old.size = 4096;
  old.engine = "v2@54";
  Apply(old);
  Apply(BufferOp(1));
  const std::string packet = Uint(proto::TracePacket::kServiceEvent, 1);
  for (const uint16_t buffer : {uint16_t{0}, uint16_t{1}})
    Apply(
        Request(1)
            .Move(buffer, Chunk(1, 1, 0).Raw(static_cast<char>(packet.size()) + packet).Counting(1))
            .op());
  Read(0);
  EXPECT_EQ(session_.stats().invalid_packets, 0u);
  Read(1);
  EXPECT_EQ(session_.stats().invalid_packets, 1u);
}

TEST_F(SessionTest, ReadOfASession_ReadsItsBuffersAlone) {
  for (const uint16_t id : {uint16_t{0}, uint16_t{1}}) {
    BufferSetUp setup;
    setup.id = BufferId{id};
    setup.size = 4096;
    setup.session = id + 1;
    Apply(setup);
    Apply(Request(1).Move(id, Chunk(1, 1, 0).Whole(2, 'h')).op());
  }
  ASSERT_TRUE(session_.ReadAllBuffers({}, Session::Reach::kOpen, 2));
  EXPECT_THAT(log_.lines, ElementsAre("h2", "read 1: 1"));
}

// A recorder learns a buffer's id when a producer gets it, perhaps after the service's first pass.
TEST_F(SessionTest, SequenceIds_OfABufferThatIsKnownAfterTheFirstPass_AreInOrderOfReading) {
  ASSERT_TRUE(session_.ReadAllBuffers({}, Session::Reach::kOpen, 1));
  BufferSetUp setup;
  setup.size = 4096;
  setup.session = 1;
  Apply(setup);
  for (const uint16_t writer : {uint16_t{2}, uint16_t{1}})
    Apply(Request(1).Move(0, Chunk(1, writer, 0).Whole(2, 'h')).op());
  ASSERT_TRUE(session_.ReadAllBuffers({}, Session::Reach::kOpen, 1));
  EXPECT_THAT(log_.ids, ElementsAre(2, 3));  // by the table of writers it would be 3, 2
}

TEST_F(SessionTest, SequenceIds_ArePerMachine) {
  Apply(BufferOp(0));
  Connect(1);
  Apply(Request(1).Move(0, Chunk(1, 1, 0).Whole(2, 'h')).op());
  Read(0);
  Apply(ProducerDisconnected{ProducerId{1}});
  ProducerConnected remote;
  remote.producer = ProducerId{1};
  remote.machine = 7;
  Apply(remote);
  Apply(Request(1).Move(0, Chunk(1, 1, 1).Whole(2, 'h')).op());
  Read(0);
  EXPECT_THAT(log_.ids, ElementsAre(2, 3));
}

TEST_F(SessionTest, TotalBuffers_AreTheLiveOnes_ThoseOfClonesIncluded) {
  Apply(BufferOp(0));
  Apply(BufferOp(1));
  Apply(BufferCloned{1, BufferId{0}, false});
  Apply(BufferCloned{1, BufferId{1}, false});
  EXPECT_EQ(session_.stats().total_buffers, 4u);
  Apply(CloneEnded{1, true, "", false, 9});
  Apply(SessionEnded{9});
  EXPECT_EQ(session_.stats().total_buffers, 2u);
  Apply(BufferCloned{2, BufferId{0}, false});
  Apply(CloneEnded{2, false, "no", false, {}});
  EXPECT_EQ(session_.stats().total_buffers, 2u);
  Apply(BufferFreed{BufferId{0}});
  Apply(BufferOp(5));
  EXPECT_EQ(session_.stats().total_buffers, 2u);
}

TEST_F(SessionTest, FreedBuffer_TakesNoMoreCommits) {
  Apply(BufferOp(0));
  Apply(BufferFreed{BufferId{0}});
  Apply(Request(1).Move(0, Chunk(1, 1, 0)).op());
  EXPECT_EQ(session_.stats().chunks_discarded, 1u);
}

TEST_F(SessionTest, UnknownProducer_OnceThereAreProducerRecords) {
  Apply(BufferOp(0));
  Apply(Request(9).Move(0, Chunk(9, 1, 0)).op());
  EXPECT_EQ(session_.stats().chunks_discarded, 0u);
  Connect(1);
  Apply(Request(9).Move(0, Chunk(9, 1, 1)).op());
  EXPECT_EQ(session_.stats().chunks_discarded, 1u);
  Apply(Request(1).Move(0, Chunk(1, 1, 0)).op());
  EXPECT_EQ(session_.stats().chunks_discarded, 1u);
  Apply(ProducerDisconnected{ProducerId{1}});
  Apply(Request(1).Move(0, Chunk(1, 1, 1)).op());
  EXPECT_EQ(session_.stats().chunks_discarded, 2u);
}

TEST_F(SessionTest, Permission_ComesFromDataSourcesAndOutlastsThem) {
  Apply(BufferOp(1));
  Apply(BufferOp(2));
  Connect(1);
  DataSourceSetUp setup;
  setup.producer = ProducerId{1};
  setup.target_buffer = BufferId{1};
  Apply(setup);
  Apply(Request(1).Move(1, Chunk(1, 1, 0)).op());
  EXPECT_EQ(session_.stats().chunks_discarded, 0u);
  Apply(Request(1).Move(2, Chunk(1, 2, 0)).op());
  EXPECT_EQ(session_.stats().chunks_discarded, 1u);
  Apply(DataSourceStopped{ProducerId{1}, 0});
  Apply(Request(1).Move(1, Chunk(1, 1, 1)).op());
  EXPECT_EQ(session_.stats().chunks_discarded, 1u);
}

TEST_F(SessionTest, Permission_IsNotForTheNextBufferOfTheId) {
  Apply(BufferOp(1));
  Connect(1);
  DataSourceSetUp setup;
  setup.producer = ProducerId{1};
  setup.target_buffer = BufferId{1};
  Apply(setup);
  Apply(BufferFreed{BufferId{1}});
  Apply(BufferOp(1));
  Apply(Request(1).Move(1, Chunk(1, 1, 0)).op());
  EXPECT_EQ(session_.stats().chunks_discarded, 1u);
  Apply(setup);
  Apply(Request(1).Move(1, Chunk(1, 1, 0)).op());
  EXPECT_EQ(session_.stats().chunks_discarded, 1u);
}

TEST_F(SessionTest, CloneOfAFreedBuffer_IsSkipped) {
  Apply(BufferOp(0));
  Apply(Request(1).Move(0, Chunk(1, 1, 0).Whole(2, 'h')).op());
  Apply(BufferFreed{BufferId{0}});
  EXPECT_TRUE(session_.ReadClone(BufferId{0}));
  Apply(BufferCloned{1, BufferId{0}, /*transfer=*/true});
  EXPECT_THAT(log_.lines, IsEmpty());
  EXPECT_THAT(log_.warnings, ElementsAre(HasSubstr("a clone of buffer 0, which is not set up")));
  EXPECT_EQ(session_.buffers().at(BufferId{0}).engine->stats().chunks_written, 1u);
}

// Producers continue to commit for a while after a session has ended.
TEST_F(SessionTest, CommitsToAFreedBuffer_AreRefusedWithoutAWarning) {
  Apply(BufferOp(1));
  Apply(BufferFreed{BufferId{1}});
  Apply(Request(1).Move(1, Chunk(1, 1, 0)).op());
  EXPECT_EQ(session_.stats().chunks_discarded, 1u);
  EXPECT_THAT(log_.warnings, ElementsAre());
  Apply(Request(1).Move(2, Chunk(1, 1, 1)).op());
  EXPECT_THAT(log_.warnings, ElementsAre(HasSubstr("buffer 2, which is not set up")));
}

TEST_F(SessionTest, WriterRegisteredForAnotherBuffer_IsRefused) {
  Apply(BufferOp(1));
  Apply(BufferOp(2));
  Connect(1);
  Apply(WriterRegistered{ProducerId{1}, WriterId{4}, BufferId{1}});
  Apply(Request(1).Move(2, Chunk(1, 4, 0)).op());
  EXPECT_EQ(session_.stats().chunks_discarded, 1u);
  Apply(Request(1).Move(2, Chunk(1, 5, 0)).op());
  EXPECT_EQ(session_.stats().chunks_discarded, 1u) << "writer 5 is not registered at all";
  Apply(WriterUnregistered{ProducerId{1}, WriterId{4}});
  Apply(Request(1).Move(2, Chunk(1, 4, 0)).op());
  EXPECT_EQ(session_.stats().chunks_discarded, 1u);
}

TEST_F(SessionTest, PatchLimits_OnceThereAreProducerRecords) {
  Apply(BufferOp(0));
  Apply(Request(1).Move(0, Chunk(1, 40000, 0).Whole(8, 'a')).op());
  Apply(Request(1).Patch(0, 40000, 0, 1, "wxyz").op());
  EXPECT_EQ(session_.stats().patches_discarded, 0u);
  Connect(1);
  Apply(Request(1).Patch(0, 40000, 0, 1, "wxyz").op());
  Apply(Request(1).Patch(0, 0, 0, 1, "wxyz").op());
  EXPECT_EQ(session_.stats().patches_discarded, 2u);
  EXPECT_THAT(log_.lines, ElementsAre("patched", "not patched", "not patched"));
}

TEST_F(SessionTest, PatchOfAnotherLength_IsDroppedAloneFromItsList) {
  Apply(BufferOp(0));
  Apply(Request(1).Move(0, Chunk(1, 1, 0).Whole(8, 'a')).op());
  std::string bytes;
  ChunkToPatch patch{.target_buffer = 0, .writer = 1, .chunk = 0, .patches = {}};
  patch.patches.push_back({.offset = 1, .data = wire::AsBytes("xyz")});
  patch.patches.push_back({.offset = 5, .data = wire::AsBytes("wxyz")});
  CommitRequestBuilder(bytes).AddPatch(patch);
  Apply(Request(1).Raw(bytes).op());
  EXPECT_EQ(session_.stats().patches_discarded, 1u);
  EXPECT_EQ(session_.buffers().at(BufferId{0}).engine->stats().patches_succeeded, 1u);
}

TEST_F(SessionTest, Identity_IsTheCommitsOwnElseTheProducers) {
  Apply(BufferOp(0));
  Connect(1);
  Apply(Request(1).Move(0, Chunk(1, 1, 0).Whole(1, 'a')).op());
  Request request(1);
  request.Move(0, Chunk(1, 2, 0).Whole(1, 'b'));
  Op own = request.op();
  std::get<Commit>(own.body).uid = 9;
  Apply(own);

  Engine& engine = *session_.buffers().at(BufferId{0}).engine;
  engine.BeginRead();
  std::vector<Identity> found;
  while (const Packet* packet = engine.NextPacket()) found.push_back(packet->identity);
  EXPECT_THAT(found, ElementsAre(Identity{500, 50}, Identity{9, 50}));
}

TEST_F(SessionTest, SharedMemory_RequestsBeforeItAreIgnored) {
  Apply(BufferOp(0));
  Connect(1);
  Connect(2);
  Apply(SharedMemorySetUp{ProducerId{2}, 4096 * 4, 4096});
  Apply(Request(1).Move(0, Chunk(1, 1, 0).Whole(1, 'a')).op());
  Apply(Request(2).Move(0, Chunk(2, 1, 0).Whole(1, 'b')).op());
  EXPECT_THAT(Read(0), ElementsAre("b1 invalid", "read 0: 1"));
}

TEST_F(SessionTest, MalformedInput_IsSkippedAndTold) {
  Apply(BufferOp(0));
  Apply(Request(1).Raw("\xFF\xFF").op());
  EXPECT_EQ(session_.stats().malformed_requests, 1u);
  // A chunk of 7 bytes, one without data, one of 65,536 bytes.
  Apply(Request(1).Raw("\x0A\x09\x22\x07zzzzzzz").Raw(std::string("\x0A\x02\x18\x00", 4)).op());
  std::string huge;
  const std::string data(65536, 'x');
  CommitRequestBuilder(huge).AddChunk({.page = {},
                                       .index = {},
                                       .target_buffer = 0,
                                       .data = wire::AsBytes(data),
                                       .incomplete = false});
  Apply(Request(1).Raw(huge).op());
  EXPECT_EQ(session_.stats().skipped_chunks, 3u);
  EXPECT_EQ(session_.stats().chunks_discarded, 0u);
  EXPECT_EQ(log_.warnings.size(), 2u);
}

// Part 0: chunk and patch; part 1: the chunk that the patch is for. Patches come after all chunks.
TEST_F(SessionTest, RequestInParts_AppliesPatchesAfterAllChunks) {
  Apply(BufferOp(0));
  Apply(Request(1).Patch(0, 1, 0, 1, "wxyz").Part(3, 0, false).op());
  EXPECT_THAT(log_.lines, IsEmpty());
  Apply(Request(1).Move(0, Chunk(1, 1, 0).Whole(4, 'a')).Part(3, 1, true).op());
  EXPECT_THAT(log_.lines, ElementsAre("patched"));
}

TEST_F(SessionTest, RequestWithoutItsLastPart_LosesItsPatches) {
  Apply(BufferOp(0));
  Apply(Request(1)
            .Move(0, Chunk(1, 1, 0).Whole(4, 'a'))
            .Patch(0, 1, 0, 1, "wxyz")
            .Part(3, 0, false)
            .op());
  Apply(Request(1).Move(0, Chunk(1, 1, 1).Whole(4, 'b')).op());
  EXPECT_THAT(log_.lines, IsEmpty()) << "the patch is of request 3, not of this one";
  EXPECT_THAT(log_.warnings, ElementsAre(HasSubstr("last part")));
  Apply(Request(1).Patch(0, 1, 1, 1, "wxyz").Part(4, 1, true).op());
  EXPECT_THAT(log_.lines, ElementsAre("patched"));
}

TEST_F(SessionTest, RecordsOfAProducerThatNeverConnected_DoNotConnectIt) {
  Apply(BufferOp(0));
  Connect(1);
  Apply(WriterUnregistered{ProducerId{7}, WriterId{1}});
  Apply(Request(7).Move(0, Chunk(7, 1, 0).Whole(4, 'a')).op());
  EXPECT_EQ(session_.stats().chunks_discarded, 1u);
  DataSourceSetUp setup;
  setup.producer = ProducerId{7};
  setup.target_buffer = BufferId{0};
  Apply(setup);
  Apply(WriterRegistered{ProducerId{7}, WriterId{1}, BufferId{0}});
  Apply(Request(7).Move(0, Chunk(7, 1, 1).Whole(4, 'b')).op());
  EXPECT_EQ(session_.stats().chunks_discarded, 2u);
  Apply(ProducerDisconnected{ProducerId{7}});
  EXPECT_EQ(session_.stats().producers_connected, 1u);
}

TEST_F(SessionTest, Reads_StopAtTheirLimits) {
  Apply(BufferOp(0));
  Apply(Request(1)
            .Move(0, Chunk(1, 1, 0).Whole(10, 'a').Whole(10, 'b').Whole(10, 'c').Whole(10, 'd'))
            .op());
  ASSERT_TRUE(session_.ReadBuffer(BufferId{0}, {1, {}}));
  EXPECT_THAT(log_.lines, ElementsAre("a10 invalid", "read 0: 1"));
  log_.lines.clear();
  ASSERT_TRUE(session_.ReadBuffer(BufferId{0}, {{}, 11}));  // the one that reaches it is included
  EXPECT_THAT(log_.lines, ElementsAre("b10 invalid", "c10 invalid", "read 0: 2"));
}

// A pass counts the packets as the trace has them; buffers after the limit are not begun.
TEST_F(SessionTest, ServicePass_CountsTrustedFieldsAndLeavesLaterBuffers) {
  Apply(BufferOp(1));
  Apply(BufferOp(2));
  const std::string packet = "\x08\x01\x40\x05";  // fields 1 and 8
  const auto one = [&](uint16_t writer) {
    return Chunk(1, writer, 0).Raw("\x04" + packet).Raw("\x04" + packet).Counting(2);
  };
  Apply(Request(1).Move(1, one(1)).Move(2, one(2)).op());
  // 4 bytes, and trusted uid 2, sequence id 2, pid 3.
  EXPECT_EQ(session_.ReadAllBuffers(11).value(), true);
  EXPECT_EQ(log_.lines.size(), 2u);
  EXPECT_EQ(log_.lines.back(), "read 1: 1");
  EXPECT_EQ(session_.ReadAllBuffers({}).value(), false);
  EXPECT_EQ(log_.lines.size(), 2u + 2u + 3u);
  EXPECT_THAT(log_.ids, ElementsAre(2, 2, 3, 3));
}

TEST_F(SessionTest, Choices_OneBufferBeforeAll) {
  Session::Options options;
  options.all = {.engine = "v2@54", .size = 8192, .policy = {}};
  options.buffers[BufferId{2}] = {.engine = {}, .size = 4096, .policy = FillPolicy::kDiscard};
  Session session(options, log_);
  ASSERT_TRUE(session.Apply(BufferOp(1, 65536)));
  ASSERT_TRUE(session.Apply(BufferOp(2, 65536)));
  EXPECT_EQ(session.buffers().at(BufferId{1}).info->name, "v2@54");
  EXPECT_EQ(session.buffers().at(BufferId{1}).engine->stats().buffer_size, 8192u);
  EXPECT_EQ(session.buffers().at(BufferId{2}).info->name, "v2@54");
  EXPECT_EQ(session.buffers().at(BufferId{2}).engine->stats().buffer_size, 4096u);
  EXPECT_EQ(session.buffers().at(BufferId{2}).policy, FillPolicy::kDiscard);
}

TEST_F(SessionTest, UnusableBuffers_AreErrorsThatSayWhatToDo) {
  BufferSetUp setup;
  setup.id = BufferId{1};
  setup.size = uint64_t{1} << 40;
  const Status too_large = session_.Apply({.time_ns = {}, .body = setup});
  ASSERT_FALSE(too_large);
  EXPECT_THAT(too_large.error().ToString(), HasSubstr("--size"));
  setup.size = 4096;
  setup.engine = "v9";
  const Status unknown = session_.Apply({.time_ns = {}, .body = setup});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(unknown.error().ToString(), HasSubstr("--engine"));
}

TEST_F(SessionTest, Flushes_AreCountedOnceHoweverManyAcknowledge) {
  Apply(FlushAcknowledged{ProducerId{1}, 1});
  Apply(FlushAcknowledged{ProducerId{2}, 1});
  Apply(FlushAcknowledged{ProducerId{1}, 2});
  Apply(FlushTimedOut{3});
  EXPECT_EQ(session_.stats().flushes_requested, 3u);
  EXPECT_EQ(session_.stats().flushes_succeeded, 2u);
  EXPECT_EQ(session_.stats().flushes_failed, 1u);
}

// A flush that nobody answers has failed, and one that not everybody answers, too.
TEST_F(SessionTest, Flushes_WithoutAnAnswerHaveFailed) {
  for (const uint16_t producer : {uint16_t{1}, uint16_t{2}}) {
    Apply(FlushRequested{.flush = 1, .producer = ProducerId{producer}});
    Apply(FlushRequested{.flush = 2, .producer = ProducerId{producer}});
  }
  Apply(FlushRequested{.flush = 3, .producer = ProducerId{1}, .instances = {}, .flags = 0x12});
  Apply(FlushAcknowledged{ProducerId{1}, 1});
  Apply(FlushAcknowledged{ProducerId{2}, 1});
  Apply(FlushAcknowledged{ProducerId{1}, 2});
  ASSERT_TRUE(session_.EndLog());
  EXPECT_EQ(session_.stats().flushes_requested, 3u);
  EXPECT_EQ(session_.stats().flushes_succeeded, 1u);
  EXPECT_EQ(session_.stats().flushes_failed, 2u);
  EXPECT_EQ(session_.stats().final_flush_outcome, 2u);
}

TEST_F(SessionTest, DataSources_AreCountedAsTheServiceDoes) {
  Connect(1);
  Connect(2);
  Apply(DataSourceRegistered{.producer = ProducerId{1}, .name = "a"});
  Apply(DataSourceRegistered{.producer = ProducerId{1}, .name = "a"});  // an update of it
  Apply(DataSourceRegistered{.producer = ProducerId{1}, .name = "b"});
  Apply(DataSourceRegistered{.producer = ProducerId{2}, .name = "a"});
  Apply(DataSourceSetUp{.producer = ProducerId{2}, .instance = 7, .name = "a"});
  EXPECT_EQ(session_.stats().data_sources_registered, 3u);
  EXPECT_EQ(session_.stats().data_sources_seen, 7u);
  Apply(DataSourceUnregistered{ProducerId{1}, "a"});
  Apply(ProducerDisconnected{ProducerId{2}});
  EXPECT_EQ(session_.stats().data_sources_registered, 1u);
}

// By facts of the service's table: a slot for the writer's number, the next ones 3 and 10 on.
TEST(InTableOrder, IsThatOfTheSlots) {
  const auto key = [](uint16_t producer, uint16_t writer) {
    return SequenceKey{ProducerId{producer}, WriterId{writer}};
  };
  EXPECT_THAT(InTableOrder({key(1, 4), key(1, 1), key(2, 1), key(1, 2)}),
              ElementsAre(key(1, 1), key(1, 2), key(1, 4), key(2, 1)));
  // In a table of 1,024 slots the later one moves; one that grew has a slot for each.
  std::vector<SequenceKey> writers = {key(1, 1025), key(1, 1)};
  EXPECT_THAT(InTableOrder(writers), ElementsAre(key(1, 1025), key(1, 1)));
  for (uint16_t writer = 2; writer < 900; ++writer) writers.push_back(key(1, writer));
  const std::vector<SequenceKey> grown = InTableOrder(writers);
  ASSERT_EQ(grown.size(), writers.size());
  EXPECT_EQ(grown.front(), key(1, 1));
  EXPECT_EQ(grown.back(), key(1, 1025));
}

TEST(SequenceIds, CountFromTwoInOrderOfUse) {
  SequenceIds ids;
  const SequenceKey a{ProducerId{1}, WriterId{1}}, b{ProducerId{1}, WriterId{2}};
  EXPECT_EQ(ids.IdOf(b), 2u);
  EXPECT_EQ(ids.IdOf(a), 3u);
  EXPECT_EQ(ids.IdOf(b), 2u);
}

}  // namespace
}  // namespace ringscope::testing
