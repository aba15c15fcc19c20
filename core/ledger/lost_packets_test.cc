#include "core/ledger/lost_packets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/session/replay.h"
#include "core/testing/session_log.h"

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// 'a' is field 12 as a fixed64: nine of them are a field, so that 9n times 'a' is a valid packet.

/// What was lost, "1:1 a18" each, with " gap" where its predecessor is not the one handed on
/// before.
struct Lost {
  std::vector<std::string> packets;
  std::vector<Identity> identities;
  LostPackets::Counts unwritable{};
  size_t kept = 0;  // chunks, before the end

  uint64_t Unwritable(Fate fate) const { return unwritable[static_cast<size_t>(fate)].packets; }
};

Lost LostOf(const std::vector<Op>& ops) {
  Lost result;
  LostPackets lost([&](const LostPacket& packet) {
    Packet view{.sequence = packet.account.sequence, .identity = packet.identity};
    view.slices = packet.slices;
    view.size = packet.account.size;
    result.packets.push_back(std::to_string(Raw(view.sequence.producer)) + ":" +
                             std::to_string(Raw(view.sequence.writer)) + " " + Describe(view) +
                             (packet.gap_before ? " gap" : ""));
    result.identities.push_back(packet.identity);
  });
  Ledger ledger(lost);
  ReplayOptions options;
  Replay replay(options, {&ledger, &lost});
  for (const Op& op : ops) EXPECT_TRUE(replay.Apply(op));
  EXPECT_TRUE(replay.Finish());
  result.kept = lost.size();
  EXPECT_TRUE(replay.Drain());
  EXPECT_EQ(lost.size(), 0u);
  EXPECT_EQ(ledger.Check(), "");
  result.unwritable = lost.unwritable();
  return result;
}

TEST(LostPackets, Overwritten_ComeInOrderOfTheirSequence) {
  const Request one = Request(1).Move(1, Chunk(1, 1, 0).Whole(900, 'a').Whole(990, 'a'));
  const Request two = Request(1).Move(1, Chunk(1, 1, 1).Whole(1800, 'a'));
  const Request big = Request(1).Move(1, Chunk(1, 2, 0).Whole(3600, 'a'));
  const Lost lost = LostOf({BufferOp(1), one.op(), two.op(), big.op()});
  EXPECT_THAT(lost.packets, ElementsAre("1:1 a900", "1:1 a990", "1:1 a1800"));
  EXPECT_EQ(lost.unwritable, LostPackets::Counts{});
}

// What is written between two packets that are lost was read: the second one is flagged so.
TEST(LostPackets, GapBefore_WhereThePacketBeforeWasNotLost) {
  const Request first = Request(1).Move(1, Chunk(1, 1, 0).Whole(900, 'a'));
  const Request second = Request(1).Move(1, Chunk(1, 1, 1).Whole(990, 'a'));
  const Request third = Request(1).Move(1, Chunk(1, 1, 2).Whole(1800, 'a'));
  const Request big = Request(1).Move(1, Chunk(1, 2, 0).Whole(3600, 'a'));
  const Request bigger = Request(1).Move(1, Chunk(1, 2, 1).Whole(3690, 'a'));
  const Op read{.time_ns = {}, .body = ReadPass{.buffer = BufferId{1}}};
  EXPECT_THAT(
      LostOf({BufferOp(1), first.op(), big.op(), second.op(), read, third.op(), bigger.op()})
          .packets,
      ElementsAre("1:1 a900", "1:1 a1800 gap", "1:2 a3600"));
}

TEST(LostPackets, NothingLost_NothingComes) {
  const Request one = Request(1).Move(1, Chunk(1, 1, 0).Whole(900, 'a'));
  EXPECT_THAT(LostOf({BufferOp(1), one.op()}).packets, IsEmpty());
}

// [ c0: a9-> ][ c1: ->a9 ], c0 patched at its third byte, both overwritten.
TEST(LostPackets, PacketInFragments_IsJoinedAndPatched) {
  const Request first = Request(1).Move(1, Chunk(1, 1, 0).Begins(9, 'a').NeedsPatching());
  const Request second = Request(1).Move(1, Chunk(1, 1, 1).Ends(9, 'a'));
  const Request patch = Request(1).Patch(1, 1, 0, 3, "wxyz");
  const Request big = Request(1).Move(1, Chunk(1, 2, 0).Whole(3600, 'a'));
  const Request bigger = Request(1).Move(1, Chunk(1, 2, 1).Whole(3600, 'a'));
  const std::vector<std::string> packet = {"1:1 a2w1x1y1z1a12", "1:2 a3600"};
  EXPECT_EQ(
      LostOf({BufferOp(1), first.op(), second.op(), patch.op(), big.op(), bigger.op()}).packets,
      packet);
  // The copy is patched although the buffer has lost the chunk.
  EXPECT_EQ(
      LostOf({BufferOp(1), first.op(), second.op(), big.op(), patch.op(), bigger.op()}).packets,
      packet);
  const Lost unpatched = LostOf({BufferOp(1), first.op(), second.op(), big.op(), bigger.op()});
  EXPECT_THAT(unpatched.packets, ElementsAre("1:2 a3600"));
  EXPECT_EQ(unpatched.Unwritable(Fate::kOverwritten), 1u);
}

TEST(LostPackets, FragmentsWithoutTheRest_CannotBeWritten) {
  const Request cut = Request(1).Move(1, Chunk(1, 1, 0).Begins(9, 'a'));
  const Request other = Request(1).Move(1, Chunk(1, 1, 1).Whole(9, 'a'));
  const Request dropped = Request(1).Move(1, Chunk(1, 3, 0).Aborted());
  const Lost lost = LostOf({BufferOp(1), cut.op(), other.op(), dropped.op()});
  EXPECT_THAT(lost.packets, IsEmpty());
  EXPECT_EQ(lost.Unwritable(Fate::kCut), 1u);
  EXPECT_EQ(lost.Unwritable(Fate::kWriterDropped), 1u);
}

TEST(LostPackets, WhatTheServiceWouldRefuse_CannotBeWritten) {
  const Request invalid = Request(1).Move(1, Chunk(1, 1, 0).Whole(10, 'a'));
  const Lost lost = LostOf({BufferOp(1), invalid.op()});
  EXPECT_THAT(lost.packets, IsEmpty());
  EXPECT_EQ(lost.Unwritable(Fate::kInvalid), 1u);
}

// The service refuses the chunk before any buffer sees it; who wrote it is known all the same.
TEST(LostPackets, Refused_HaveTheirProducersIdentity) {
  ProducerConnected connected;
  connected.producer = ProducerId{1};
  connected.uid = 500;
  connected.pid = 50;
  const Request stray = Request(1).Move(7, Chunk(1, 1, 0).Whole(9, 'a'));
  const Lost lost = LostOf({BufferOp(1), Op{.time_ns = {}, .body = connected}, stray.op()});
  EXPECT_THAT(lost.packets, ElementsAre("1:1 a9"));
  EXPECT_THAT(lost.identities, ElementsAre(Identity{500, 50}));
}

// A chunk that was scraped half-full is re-committed: its packets are handed on once.
TEST(LostPackets, SentAgain_ComesOnce) {
  const Request scraped =
      Request(1).Move(1, Chunk(1, 1, 0).Whole(9, 'a').Whole(18, 'a').Incomplete());
  const Request whole = Request(1).Move(1, Chunk(1, 1, 0).Whole(9, 'a').Whole(18, 'a'));
  const Request big = Request(1).Move(1, Chunk(1, 2, 0).Whole(4050, 'a'));
  EXPECT_THAT(LostOf({BufferOp(1), scraped.op(), whole.op(), big.op()}).packets,
              ElementsAre("1:1 a9", "1:1 a18"));
}

// However long the log, only what the ledger may still report is kept.
TEST(LostPackets, Kept_IsBounded) {
  std::vector<Request> requests;
  constexpr uint32_t kChunks = 30'000;
  for (uint32_t i = 0; i < kChunks; ++i)
    requests.push_back(Request(1).Move(
        1, i % 2 == 0 ? Chunk(1, 1, i).Begins(900, 'a') : Chunk(1, 1, i).Ends(900, 'a')));
  std::vector<Op> ops = {BufferOp(1)};
  for (const Request& request : requests) ops.push_back(request.op());
  const Lost lost = LostOf(ops);
  EXPECT_GT(lost.packets.size(), kChunks / 2 - 10);
  EXPECT_LT(lost.kept, 8192u + 16u);
}

}  // namespace
}  // namespace ringscope::testing
