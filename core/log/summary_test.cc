#include "core/log/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ringscope {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::SizeIs;

/// Feeds commits of one producer.
class Session {
 public:
  Session& Commit(ChunkHeader header, size_t payload, bool complete = true, uint16_t buffer = 1,
                  std::optional<uint64_t> time_ns = {}) {
    std::string request;
    const std::string bytes(payload, 'x');
    CommitRequestBuilder(request).AddChunk(BufferId{buffer}, header, wire::AsBytes(bytes),
                                           complete);
    return Request(request, time_ns);
  }
  Session& Request(const std::string& request, std::optional<uint64_t> time_ns = {}) {
    ringscope::Commit commit;
    commit.producer = ProducerId{1};
    commit.request = wire::AsBytes(request);
    Add(Op{time_ns, commit});
    return *this;
  }
  void Add(const Op& op) { builder_.Add(op, number_++); }
  const SessionSummary& summary() const { return builder_.Sessions().at(0); }
  const SequenceSummary& only() const { return summary().sequences.at(0); }

 private:
  LogSummaryBuilder builder_;
  uint64_t number_ = 0;
};

ChunkHeader OfChunk(uint32_t id, uint16_t fragments, uint8_t flags = 0, uint16_t writer = 2) {
  return {ChunkId{id}, WriterId{writer}, fragments, flags};
}

TEST(Summary, Packets_BeginInAChunk) {
  struct Case {
    const char* name;
    uint16_t fragments;
    uint8_t flags;
    bool complete;
    uint64_t packets;
  };
  for (const Case& c : {
           Case{"none", 0, 0, true, 0},
           Case{"whole ones", 3, 0, true, 3},
           Case{"the last continues in the next chunk", 3, kLastContinues, true, 3},
           Case{"the first began before", 3, kFirstContinues, true, 2},
           Case{"one that runs through", 1, kFirstContinues | kLastContinues, true, 0},
           Case{"none, though the flag is that it continues", 0, kFirstContinues, true, 0},
           Case{"still being written", 3, 0, false, 2},
           Case{"still being written, the first began before", 1, kFirstContinues, false, 0},
       }) {
    Session session;
    session.Commit(OfChunk(0, c.fragments, c.flags), 10, c.complete);
    EXPECT_EQ(session.only().packets, c.packets) << c.name;
  }
}

TEST(Summary, Recommit_CountsTheChunkOnceAndOnlyTheExtraPackets) {
  Session session;
  session.Commit(OfChunk(5, 3), 30, /*complete=*/false).Commit(OfChunk(5, 4), 40);
  EXPECT_EQ(session.only().commits, 2u);
  EXPECT_EQ(session.only().chunks, 1u);
  EXPECT_EQ(session.only().packets, 4u);
  EXPECT_EQ(session.only().bytes, 70u);
  EXPECT_EQ(session.summary().chunks, 2u);
  EXPECT_EQ(session.summary().chunk_bytes, 86u);
}

TEST(Summary, Recommit_IsForgottenAfterAWhile) {
  Session session;
  for (uint32_t id = 0; id < 9; ++id) session.Commit(OfChunk(id, 1), 10);
  session.Commit(OfChunk(0, 1), 10);
  EXPECT_EQ(session.only().chunks, 10u);
}

TEST(Summary, Sequences_AreListedByFirstCommitPerBuffer) {
  Session session;
  session.Commit(OfChunk(0, 1, 0, 9), 1)
      .Commit(OfChunk(0, 1, 0, 3), 1)
      .Commit(OfChunk(1, 1, 0, 9), 1)
      .Commit(OfChunk(1, 1, 0, 9), 1, true, 2);
  const auto writer = [](uint16_t id, uint16_t buffer) {
    return ::testing::AllOf(
        Field(&SequenceSummary::sequence, SequenceKey{ProducerId{1}, WriterId{id}}),
        Field(&SequenceSummary::buffer, BufferId{buffer}));
  };
  EXPECT_THAT(session.summary().sequences, ElementsAre(writer(9, 1), writer(3, 1), writer(9, 2)));
}

// After the service's restart an id is another buffer's.
TEST(Summary, BufferThatIsSetUpAgain_IsAnother) {
  Session session;
  const auto set_up = [&](uint32_t index) {
    session.Add(
        {.time_ns = {},
         .body = BufferSetUp{.id = BufferId{1}, .index = index, .size = 4096, .engine = {}}});
  };
  session.Commit(OfChunk(0, 1), 1);  // to a buffer that is not set up
  set_up(0);
  session.Commit(OfChunk(1, 1), 1);
  set_up(3);
  session.Commit(OfChunk(1, 1), 1).Commit(OfChunk(2, 1), 1);
  ASSERT_EQ(session.summary().sequences.size(), 3u);
  EXPECT_EQ(session.summary().sequences[0].set_up, std::nullopt);
  EXPECT_EQ(session.summary().sequences[1].set_up, 0u);
  EXPECT_EQ(session.summary().sequences[1].chunks, 1u);
  EXPECT_EQ(session.summary().sequences[2].set_up, 1u);
  EXPECT_EQ(session.summary().sequences[2].chunks, 2u);
}

TEST(Summary, Patches_CountsThoseOfFourBytes) {
  const std::string four = "abcd";
  const std::string five = "abcde";
  ChunkToPatch patch;
  patch.target_buffer = 1;
  patch.writer = 2;
  patch.patches = {{0, wire::AsBytes(four)}, {8, wire::AsBytes(five)}, {16, wire::AsBytes(four)}};
  std::string request;
  CommitRequestBuilder(request).AddPatch(patch);
  Session session;
  session.Commit(OfChunk(0, 1), 20).Request(request);
  EXPECT_EQ(session.only().patches, 2u);
  EXPECT_EQ(session.summary().patches, 2u);
}

TEST(Summary, Times_AreTheEarliestAndTheLatest) {
  Session session;
  session.Commit(OfChunk(0, 1), 1, true, 1, 50)
      .Commit(OfChunk(1, 1), 1, true, 1, 40)
      .Commit(OfChunk(2, 1), 1);
  EXPECT_EQ(session.summary().first_time_ns, 40u);
  EXPECT_EQ(session.summary().last_time_ns, 50u);
  EXPECT_EQ(session.only().first_time_ns, 40u);
}

TEST(Summary, Malformed_KeepsWhatComesBefore) {
  std::string request;
  CommitRequestBuilder(request).AddChunk(BufferId{1}, OfChunk(0, 1), {}, true);
  request += '\xff';
  Session session;
  session.Request(request);
  EXPECT_EQ(session.summary().chunks, 1u);
}

TEST(Summary, Lists_StopAtTheirLimit) {
  Session session;
  ProducerConnected producer;
  producer.name.assign(LogSummaryBuilder::kMaxListed / 4, 'x');
  for (int i = 0; i < 5; ++i) session.Add(Op{{}, producer});
  EXPECT_THAT(session.summary().producers, SizeIs(3));
  EXPECT_TRUE(session.summary().truncated);
  EXPECT_EQ(session.summary().records, 5u);
}

LogHeader Header(std::string uuid, uint32_t part) {
  LogHeader header;
  header.uuid = std::move(uuid);
  header.part = part;
  return header;
}

TEST(LogSummary, Sessions_BeginAtHeadersThatDoNotContinue) {
  LogSummaryBuilder builder;
  uint64_t number = 0;
  for (const LogHeader& header : {
           Header("a", 0), Header("a", 1),  // continues
           Header("a", 3),                  // a part is missing
           Header("b", 0), Header("b", 0),  // the same file again
       }) {
    builder.Add(Op{{}, header}, number++);
    builder.Add(Op{{}, Note{"x"}}, number++);
  }
  const std::vector<SessionSummary> sessions = builder.Sessions();
  ASSERT_THAT(sessions, SizeIs(4));
  EXPECT_EQ(sessions[0].records, 4u);
  EXPECT_EQ(sessions[1].first_record, 4u);
  EXPECT_EQ(sessions[3].first_record, 8u);
}

TEST(LogSummary, Sessions_MayLackAHeader) {
  LogSummaryBuilder builder;
  builder.Add(Op{{}, Note{"x"}}, 0);
  ASSERT_THAT(builder.Sessions(), SizeIs(1));
  EXPECT_EQ(builder.Sessions()[0].header, LogHeader{});
}

TEST(LogSummary, Uuid_MayComeLater) {
  LogSummaryBuilder builder;
  builder.Add(Op{{}, Header("", 0)}, 0);
  builder.SetUuid("late");
  builder.Add(Op{{}, Header("late", 1)}, 1);
  ASSERT_THAT(builder.Sessions(), SizeIs(1));
  EXPECT_EQ(builder.Sessions()[0].header.uuid, "late");
}

TEST(SessionBounds, RepeatedState_IsLeftOutOnlyAfterThePartBefore) {
  using enum SessionBounds::Place;
  const Op note{{}, Note{}};
  const auto repeats = [](uint32_t part) {
    LogHeader header = Header("a", part);
    header.repeated_records = 2;
    return Op{{}, header};
  };
  SessionBounds bounds;
  EXPECT_EQ(bounds.Add(Op{{}, Header("a", 0)}, 0), kStart);
  EXPECT_EQ(bounds.Add(note, 1), kWithin);
  bounds.StartFile();
  EXPECT_EQ(bounds.Add(repeats(1), 0), kWithin);
  EXPECT_EQ(bounds.Add(note, 1), kRepeated);
  // Record 2 was lost: the one after it is no repetition.
  EXPECT_EQ(bounds.Add(note, 3), kWithin);
  bounds.StartFile();
  EXPECT_EQ(bounds.Add(repeats(3), 0), kStart);
  EXPECT_EQ(bounds.Add(note, 1), kWithin);
  bounds.StartFile();
  EXPECT_EQ(bounds.Add(note, 0), kStart);
}

}  // namespace
}  // namespace ringscope
