// What the ledger makes of single situations. That fates add up over everything is checked in
// formats/testing/ledger_test.cc.

#include "core/ledger/ledger.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "core/session/replay.h"
#include "core/session/replay_listener.h"
#include "core/testing/session_log.h"

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// Packets are valid for the service where all their bytes are of fields like 'h' (a varint field's
// tag, and as its value), so sizes are even.

/// Writes down each entry: place, size, fate and cause, and whom or what it names.
class AccountLog : public LedgerSink {
 public:
  void OnPacketFate(const PacketAccount& account) override {
    std::string line =
        fmt::format("{}:{}#{}.{} {}B {}/{}", Raw(account.sequence.producer),
                    Raw(account.sequence.writer), static_cast<uint32_t>(account.first_chunk),
                    account.fragment, account.size, Name(account.fate), Name(account.cause));
    if (account.culprit) line += fmt::format(" by {}", ToString(*account.culprit));
    if (account.waits_for) line += fmt::format(" for {}", ToString(*account.waits_for));
    if (account.own_fault) line += " buffer bug";
    lines.push_back(line);
    accounts.push_back(account);
  }
  void OnReturned(const PacketAccount& account, const SessionPacket&) override {
    const auto read = [](const PacketAccount& one) { return std::pair(one.pass, one.position); };
    if (!accounts.empty() && read(accounts.back()) == read(account)) return;  // it has a fate
    lines.push_back(fmt::format("{}:{}#{}.{} again", Raw(account.sequence.producer),
                                Raw(account.sequence.writer),
                                static_cast<uint32_t>(account.first_chunk), account.fragment));
  }
  std::vector<std::string> lines;
  std::vector<PacketAccount> accounts;
};

/// A replay with a ledger, step by step.
class Scene {
 public:
  explicit Scene(const std::string& engine, uint64_t size = 4096,
                 FillPolicy policy = FillPolicy::kRingBuffer)
      : ledger_(log_), replay_(OptionsFor(engine), ledger_) {
    BufferSetUp setup;
    setup.id = BufferId{1};
    setup.size = size;
    setup.policy = policy;
    Apply({.time_ns = {}, .body = setup});
  }

  Scene& Commit(const Chunk& chunk) {
    const ChunkCommit commit = chunk.commit();
    return Apply(Request(Raw(commit.sequence.producer)).Move(1, chunk).op());
  }
  Scene& Patch(uint16_t producer, uint16_t writer, uint32_t chunk, uint64_t offset) {
    return Apply(Request(producer).Patch(1, writer, chunk, offset, "PPPP").op());
  }
  Scene& Read(std::optional<uint64_t> max_packets = {}) {
    return Apply(
        {.time_ns = {}, .body = ReadPass{.buffer = BufferId{1}, .max_packets = max_packets}});
  }
  Scene& Apply(const Op& op) {
    Op timed = op;
    timed.time_ns = ++time_;
    EXPECT_TRUE(replay_.Apply(timed));
    return *this;
  }
  /// Closes the accounts; all entries in the order of their reports.
  std::vector<std::string> Accounts() {
    EXPECT_TRUE(replay_.Drain());
    EXPECT_EQ(ledger_.Check(), "");
    return log_.lines;
  }
  const AccountLog& log() const { return log_; }
  const LedgerTotals& totals() const { return ledger_.totals().at(BufferId{1}); }

 private:
  ReplayOptions OptionsFor(const std::string& engine) {
    ReplayOptions options;
    options.session.all.engine = engine;
    return options;
  }

  uint64_t time_ = 0;
  AccountLog log_;
  Ledger ledger_;
  Replay replay_;
};

class LedgerTest : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Engines, LedgerTest,
                         ::testing::Values("v1", "v2@54", "v2@55", "v2@56", "v2@57", "v2@58"),
                         [](const auto& test) { return testing::TestNameOf(test.param); });

// [ c0: a20 b30 ][ c1: empty, c10 ]
TEST_P(LedgerTest, Read_InWhichPass) {
  Scene scene(GetParam());
  scene.Commit(Chunk(1, 1, 0).Whole(20, 'h').Whole(30, 'p')).Read(1).Read();
  scene.Commit(Chunk(1, 1, 1).Whole(0, '0').Whole(10, 'x')).Read();
  EXPECT_THAT(scene.Accounts(), ElementsAre("1:1#0.0 20B read/none", "1:1#0.1 30B read/none",
                                            "1:1#1.1 10B read/none"));
  EXPECT_EQ(scene.log().accounts[0].pass, 1u);
  EXPECT_EQ(scene.log().accounts[1].pass, 2u);
  EXPECT_EQ(scene.log().accounts[2].pass, 3u);

  Scene together(GetParam());
  together.Commit(Chunk(1, 1, 0).Whole(20, 'h').Whole(30, 'p')).Read();
  EXPECT_EQ(together.log().accounts[0].position, 1u);
  EXPECT_EQ(together.log().accounts[1].position, 2u);
}

// [ c0: a20 | b12-> ][ c1: ->b8 ] still in the buffer
TEST_P(LedgerTest, Readable_AtTheEnd) {
  Scene scene(GetParam());
  scene.Commit(Chunk(1, 1, 0).Whole(20, 'h').Begins(12, 'p')).Commit(Chunk(1, 1, 1).Ends(8, 'p'));
  EXPECT_THAT(scene.Accounts(),
              ElementsAre("1:1#0.0 20B readable/none", "1:1#0.1 20B readable/none"));
}

TEST_P(LedgerTest, Overwritten_ForWhomTheSpaceWasNeeded) {
  Scene scene(GetParam());
  scene.Commit(Chunk(1, 1, 0).Whole(20, 'h').Whole(2000, 'p'))
      .Commit(Chunk(1, 2, 0).Whole(1000, 'x'))
      .Commit(Chunk(2, 7, 5).Whole(1500, 'H'))
      .Read();
  EXPECT_THAT(scene.Accounts(),
              UnorderedElementsAre("1:2#0.0 1000B read/none", "2:7#5.0 1500B read/none",
                                   "1:1#0.0 20B overwritten/evicted by 2:7#5",
                                   "1:1#0.1 2000B overwritten/evicted by 2:7#5"));
}

// A packet over two chunks, of which the first is evicted: lost once, and as a whole.
TEST_P(LedgerTest, Overwritten_WithItsFirstFragment) {
  Scene scene(GetParam());
  scene.Commit(Chunk(1, 1, 0).Begins(2000, 'h'))
      .Commit(Chunk(1, 1, 1).Ends(1000, 'h').Whole(4, 'p'))
      .Commit(Chunk(2, 7, 5).Whole(1500, 'H'))
      .Read();
  EXPECT_THAT(scene.Accounts(),
              UnorderedElementsAre("2:7#5.0 1500B read/none", "1:1#1.1 4B read/none",
                                   "1:1#0.0 3000B overwritten/evicted by 2:7#5"));
}

TEST_P(LedgerTest, Discarded_ByWhichRule) {
  Scene scene(GetParam(), 4096, FillPolicy::kDiscard);
  scene.Commit(Chunk(1, 1, 0).Whole(3000, 'h'))
      .Commit(Chunk(1, 2, 0).Whole(2000, 'p'))
      .Commit(Chunk(1, 3, 0).Whole(20, 'x').Whole(30, 'H'));
  EXPECT_THAT(scene.Accounts(),
              ElementsAre("1:2#0.0 2000B discarded/full", "1:3#0.0 20B discarded/sealed",
                          "1:3#0.1 30B discarded/sealed", "1:1#0.0 3000B readable/none"));
}

TEST_P(LedgerTest, Discarded_ByTheService) {
  Scene scene(GetParam());
  scene.Apply(Request(1).Move(9, Chunk(1, 1, 0).Whole(20, 'h')).op());
  EXPECT_THAT(scene.Accounts(), ElementsAre("1:1#0.0 20B discarded/no_such_buffer"));
}

TEST_P(LedgerTest, Stalled_WaitsForAPatch) {
  Scene scene(GetParam());
  scene.Commit(Chunk(1, 1, 3).Begins(12, 'h').NeedsPatching())
      .Commit(Chunk(1, 1, 4).Ends(8, 'h').Whole(6, 'p'))
      .Read();
  EXPECT_THAT(scene.Accounts(),
              UnorderedElementsAre("1:1#3.0 20B stalled/waits_for_patch for 1:1#3",
                                   "1:1#4.1 6B stalled/waits_for_patch for 1:1#3"));
}

TEST_P(LedgerTest, Stalled_WaitsForTheNextChunk) {
  Scene scene(GetParam());
  scene.Commit(Chunk(1, 1, 3).Whole(4, '8').Begins(12, 'h')).Read();
  EXPECT_THAT(scene.Accounts(),
              ElementsAre("1:1#3.0 4B read/none", "1:1#3.1 12B stalled/waits_for_chunk for 1:1#3"));
}

TEST_P(LedgerTest, Stalled_WaitsForCompletion) {
  Scene scene(GetParam());
  scene.Commit(Chunk(1, 1, 3).Whole(4, '8').Whole(6, 'X').Incomplete())
      .Commit(Chunk(1, 1, 4).Whole(8, 'X'))
      .Read();
  EXPECT_THAT(scene.Accounts(),
              UnorderedElementsAre("1:1#3.0 4B read/none", "1:1#3.1 6B incomplete/scraped",
                                   "1:1#4.0 8B stalled/waits_for_completion for 1:1#3"));
}

// A scraped chunk, completed later: its packets are the same ones, and the last is a packet now.
TEST_P(LedgerTest, Scrape_IsNoPacketOfItsOwn) {
  Scene scene(GetParam());
  const Chunk scraped = Chunk(1, 1, 3).Whole(4, '8').Whole(6, 'X').Raw("  ").Incomplete();
  scene.Commit(scraped).Commit(Chunk(1, 1, 3).Whole(4, '8').Whole(6, 'X').Raw("  ")).Read();
  EXPECT_THAT(scene.Accounts(), ElementsAre("1:1#3.0 4B read/none", "1:1#3.1 6B read/none"));
}

TEST_P(LedgerTest, WriterDropped_IsOnePacketOfTheFragmentsSeen) {
  Scene scene(GetParam());
  scene.Commit(Chunk(1, 1, 0).Begins(12, 'h')).Commit(Chunk(1, 1, 1).Ends(8, 'h').Aborted());
  scene.Commit(Chunk(1, 2, 0).Aborted());
  EXPECT_THAT(scene.Accounts(), UnorderedElementsAre("1:1#1.1 0B writer_dropped/aborted",
                                                     "1:2#0.0 0B writer_dropped/aborted",
                                                     "1:1#0.0 20B readable/none"));
}

// [ c0: a12-> ] and [ c2: b8 ]: the chunk between them was never committed.
TEST_P(LedgerTest, Cut_AChunkWasNeverCommitted) {
  Scene scene(GetParam());
  scene.Commit(Chunk(1, 1, 0).Begins(12, 'h')).Commit(Chunk(1, 1, 2).Ends(6, 'x').Whole(8, 'p'));
  scene.Read();
  const std::vector<std::string> lines = scene.Accounts();
  EXPECT_THAT(lines, ::testing::Contains("1:1#0.0 12B cut/never_committed"));
  EXPECT_THAT(lines, ::testing::Contains("1:1#2.0 6B cut/never_committed"));
}

// The same, but the log lacks records there; of another producer's records that says nothing.
TEST_P(LedgerTest, Cut_AChunkMayHaveBeenInAGapOfTheLog) {
  for (const uint16_t producer : std::array<uint16_t, 2>{1, 2}) {
    Scene scene(GetParam());
    RecorderGap gap;
    gap.producer = ProducerId{producer};
    scene.Commit(Chunk(1, 1, 0).Whole(4, 'h')).Commit(Chunk(1, 1, 1).Begins(12, 'h'));
    scene.Apply({.time_ns = {}, .body = gap});
    scene.Commit(Chunk(1, 1, 3).Ends(6, 'x').Whole(8, 'p'));
    // After the gap: this one was really never committed.
    scene.Commit(Chunk(1, 1, 5).Ends(6, 'x').Whole(8, 'p')).Read();
    const std::string cause = producer == 1 ? "not_in_log" : "never_committed";
    const std::vector<std::string> lines = scene.Accounts();
    EXPECT_THAT(lines, ::testing::Contains("1:1#1.0 12B cut/" + cause));
    EXPECT_THAT(lines, ::testing::Contains("1:1#3.0 6B cut/" + cause));
    EXPECT_THAT(lines, ::testing::Contains("1:1#5.0 6B cut/never_committed"));
  }
}

// [ c0: a12-> ][ c1: b8 ]: nothing continues a.
TEST_P(LedgerTest, Cut_TheChainIsBroken) {
  Scene scene(GetParam());
  scene.Commit(Chunk(1, 1, 0).Begins(12, 'h')).Commit(Chunk(1, 1, 1).Whole(8, 'p'));
  EXPECT_THAT(scene.Accounts(), ::testing::Contains("1:1#0.0 12B cut/broken_chain"));
}

TEST_P(LedgerTest, Corrupted_BytesAfterABrokenSize) {
  Scene scene(GetParam());
  scene.Commit(Chunk(1, 1, 0).Whole(4, '8').Raw("\x7Fzz").Counting(2));
  EXPECT_THAT(scene.Accounts(),
              UnorderedElementsAre("1:1#0.0 4B readable/none", "1:1#0.1 3B corrupted/broken_size"));
}

TEST_P(LedgerTest, Invalid_IsReturnedAndRefused) {
  Scene scene(GetParam());
  // Field 3, trusted_uid, is the service's own.
  scene.Commit(Chunk(1, 1, 0).Raw("\x02\x18\x07").Counting(1)).Read();
  EXPECT_THAT(scene.Accounts(), ElementsAre("1:1#0.0 2B invalid/rejected"));
}

// After one gap, V2's reader abandons each further packet in fragments that it meets.
TEST(LedgerV2Test, BufferBug_AllFragmentsWereThere) {
  Scene scene("v2@58");
  // Buffer order is #4 #2 #5, so that the reader made for #4 goes through the gap after #2.
  scene.Commit(Chunk(1, 1, 4).Whole(4, '8').Begins(10, 'h'))
      .Commit(Chunk(1, 1, 2).Whole(4, 'X'))
      .Commit(Chunk(1, 1, 5).Ends(10, 'h'))
      .Read();
  EXPECT_THAT(scene.Accounts(), UnorderedElementsAre("1:1#2.0 4B read/none", "1:1#4.0 4B read/none",
                                                     "1:1#4.1 20B cut/read_gap buffer bug"));
  EXPECT_EQ(scene.totals().own_fault, (FateCount{1, 20}));
}

// V1 does not remember a chunk that has left the buffer: its packets are returned again.
TEST(LedgerV1Test, Duplicates_AfterARescrape) {
  Scene scene("v1");
  const Chunk scraped = Chunk(1, 1, 0).Whole(20, 'h').Whole(2000, 'p').Incomplete();
  scene.Commit(scraped).Read();
  scene.Commit(Chunk(1, 2, 0).Whole(2000, 'x')).Commit(Chunk(1, 2, 1).Whole(1500, 'H')).Read();
  scene.Commit(Chunk(1, 1, 0).Whole(20, 'h').Whole(2000, 'p')).Read();
  EXPECT_THAT(scene.Accounts(), ::testing::Contains("1:1#0.0 again"));
  EXPECT_EQ(scene.totals().duplicates, (FateCount{1, 20}));
}

TEST(LedgerV1Test, AnEvictedScrapeCanComeBack) {
  Scene scene("v1");
  scene.Commit(Chunk(1, 1, 0).Whole(20, 'h').Whole(2000, 'p').Incomplete())
      .Commit(Chunk(1, 2, 0).Whole(2000, 'x'))
      .Commit(Chunk(1, 2, 1).Whole(1500, 'H'))
      .Commit(Chunk(1, 1, 0).Whole(20, 'h').Whole(2000, 'p'))
      .Read();
  EXPECT_THAT(scene.Accounts(),
              ::testing::IsSupersetOf({"1:1#0.0 20B read/none", "1:1#0.1 2000B read/none"}));
}

// V2 of v54 evicts before it finds that the chunk is there already.
TEST(LedgerV2Test, ARecommitThatEvictsItselfLosesNothing) {
  Scene scene("v2@54", 4096);
  scene.Commit(Chunk(1, 1, 0).Whole(3000, 'h').Whole(10, 'p').Incomplete())
      .Commit(Chunk(1, 1, 0).Whole(3000, 'h').Whole(10, 'p'))
      .Read();
  const std::vector<std::string> lines = scene.Accounts();
  EXPECT_THAT(lines, ::testing::Not(IsEmpty()));
  EXPECT_EQ(scene.totals().written.packets, 2u);
}

TEST_P(LedgerTest, ResentWithOtherBytes_IsCorruptedUnlessItCameOut) {
  Scene scene(GetParam());
  scene.Commit(Chunk(1, 1, 0).Whole(20, 'h').Whole(8, 'p').Incomplete())
      .Commit(Chunk(1, 1, 0).Whole(20, '8').Whole(8, 'p'));
  scene.Commit(Chunk(1, 2, 0).Whole(2000, 'x')).Commit(Chunk(1, 2, 1).Whole(2000, 'H')).Read();
  EXPECT_THAT(scene.Accounts(), ::testing::IsSupersetOf({"1:1#0.0 20B corrupted/resent",
                                                         "1:1#0.1 8B corrupted/resent"}));
}

// What a record costs does not grow with the buffers that it does not concern.
TEST_P(LedgerTest, ARecordSettlesTheBuffersThatItConcerns) {
  constexpr uint16_t kBuffers = 1000;
  constexpr uint32_t kCommits = 1000;
  LedgerSink nothing;
  Ledger ledger(nothing);
  ReplayOptions options;
  options.session.all.engine = GetParam();
  Replay replay(options, ledger);
  for (uint16_t id = 1; id <= kBuffers; ++id) ASSERT_TRUE(replay.Apply(BufferOp(id)));
  for (uint32_t i = 0; i < kCommits; ++i)
    ASSERT_TRUE(replay.Apply(Request(1).Move(7, Chunk(1, 1, i).Whole(20, 'h')).op()));
  ASSERT_TRUE(replay.Drain());
  EXPECT_EQ(ledger.Check(), "");
  EXPECT_LE(ledger.settled(), kCommits + 1);
}

TEST_P(LedgerTest, IdsWrapAround) {
  Scene scene(GetParam(), 8192);
  scene.Commit(Chunk(1, 1, 0xFFFFFFFE).Whole(4, 'h').Begins(10, 'p'))
      .Commit(Chunk(1, 1, 0xFFFFFFFF).Continues(10, 'p'))
      .Commit(Chunk(1, 1, 0).Ends(10, 'p').Whole(4, 'x'))
      .Read();
  EXPECT_THAT(scene.Accounts(),
              ElementsAre("1:1#4294967294.0 4B read/none", "1:1#4294967294.1 30B read/none",
                          "1:1#0.1 4B read/none"));
  EXPECT_EQ(scene.log().accounts[2].first_chunk, uint64_t{1} << 32);
}

// Chunks of one sequence in any order make the same packets.
TEST_P(LedgerTest, OutOfOrderChunksAreOnePacket) {
  Scene scene(GetParam());
  scene.Commit(Chunk(1, 1, 3).Ends(6, 'h'))
      .Commit(Chunk(1, 1, 1).Begins(6, 'h'))
      .Commit(Chunk(1, 1, 2).Continues(6, 'h'));
  EXPECT_THAT(scene.Accounts(), ElementsAre("1:1#1.0 18B readable/none"));
  EXPECT_EQ(scene.totals().written, (FateCount{1, 18}));
}

}  // namespace
}  // namespace ringscope::testing
