#include <gtest/gtest.h>

#include <string>

#include "core/base/wire.h"
#include "core/gaps/gap_analysis.h"
#include "core/perfetto/fields.h"
#include "core/testing/chunk_dsl.h"
#include "core/testing/message_text.h"

namespace ringscope::testing {
namespace {

constexpr uint64_t kStaleSecond = 1'000'000'000;
constexpr BufferId kStaleBuffer{1};

std::string PacketAt(uint64_t timestamp, std::optional<uint32_t> clock = {}) {
  return Uint(8, timestamp) + (clock ? Uint(58, *clock) : "");
}

void AppendClock(std::string& snapshot, uint32_t id, uint64_t time, bool incremental = false,
                 uint64_t unit = 0) {
  snapshot += Sub(1, Uint(1, id) + Uint(2, time) + (incremental ? Uint(3, 1) : "") +
                         (unit != 0 ? Uint(4, unit) : ""));
}

Chunk With(uint32_t id, const std::vector<std::string>& packets) {
  std::string payload;
  for (const std::string& packet : packets) {
    wire::AppendVarint(payload, packet.size());
    payload += packet;
  }
  return Chunk(1, 1, id).Raw(payload).Counting(static_cast<uint16_t>(packets.size()));
}

void AddTo(StalePackets& stale, const Chunk& chunk, uint64_t now_ns) {
  const ChunkCommit commit = chunk.commit();
  WrittenCommit written;
  written.Take(commit);
  stale.AddChunk(kStaleBuffer, written, 0, now_ns);
}

TEST(StalePackets, BootTime_IsComparedWithTheCommit) {
  StalePackets stale;
  const Chunk chunk = With(7, {PacketAt(100 * kStaleSecond), PacketAt(104 * kStaleSecond)});
  AddTo(stale, chunk, 108 * kStaleSecond);
  const auto result = stale.Result();
  ASSERT_EQ(result.size(), 1u);
  EXPECT_EQ(result[0].packets, 2u);
  EXPECT_EQ(result[0].stale, 1u);
  EXPECT_EQ(result[0].longest.delay_ns, 8 * kStaleSecond);
  EXPECT_EQ(result[0].longest.chunk, 7u);
}

TEST(StalePackets, EachIsListedWithItsCommit) {
  StalePackets stale;
  AddTo(stale, With(0, {PacketAt(1 * kStaleSecond), PacketAt(8 * kStaleSecond)}),
        10 * kStaleSecond);
  AddTo(stale, With(1, {PacketAt(2 * kStaleSecond)}), 20 * kStaleSecond);
  const auto result = stale.Result();
  ASSERT_EQ(result.size(), 1u);
  std::vector<std::pair<uint64_t, uint64_t>> events;  // chunk, seconds up to its commit
  for (const StaleEvent& event : result[0].events)
    events.emplace_back(event.chunk, event.delay_ns / kStaleSecond);
  EXPECT_EQ(events, (std::vector<std::pair<uint64_t, uint64_t>>{{0, 9}, {1, 18}}));
}

TEST(StalePackets, OtherClock_IsResolvedByASnapshot) {
  constexpr uint32_t kMonotonic = 3;
  StalePackets stale;
  const Chunk before = With(0, {PacketAt(10 * kStaleSecond, kMonotonic)});
  AddTo(stale, before, 100 * kStaleSecond);
  EXPECT_TRUE(stale.Result().empty());  // that clock is not known yet
  std::string snapshot;
  AppendClock(snapshot, kBootTime, 90 * kStaleSecond);
  AppendClock(snapshot, kMonotonic, 10 * kStaleSecond);
  stale.AddClocks(wire::AsBytes(snapshot));
  const Chunk after = With(1, {PacketAt(11 * kStaleSecond, kMonotonic)});
  AddTo(stale, after, 100 * kStaleSecond);
  ASSERT_EQ(stale.Result().size(), 1u);
  EXPECT_EQ(stale.Result()[0].longest.delay_ns, 9 * kStaleSecond);
}

// The default clock is part of the state that the packet needs, and nothing set it.
TEST(StalePackets, PacketThatNeedsAStateNotSeen_HasNoTime) {
  constexpr uint64_t kNeedsState = 2;
  StalePackets stale;
  AddTo(stale, With(0, {PacketAt(17) + Uint(13, kNeedsState)}), 100 * kStaleSecond);
  EXPECT_TRUE(stale.Result().empty());
}

// The sequence sets a clock that counts steps of a microsecond as its default.
TEST(StalePackets, IncrementalClock_IsFollowed) {
  constexpr uint32_t kSteps = 64;
  std::string snapshot;
  AppendClock(snapshot, kSteps, 1'000'000, true, 1000);
  AppendClock(snapshot, kBootTime, 50 * kStaleSecond);
  const std::string setup =
      Sub(proto::TracePacket::kClockSnapshot, snapshot) + Sub(59, Uint(58, kSteps));
  StalePackets stale;
  const Chunk first = With(0, {setup, PacketAt(1'000'000), PacketAt(2'000'000)});
  AddTo(stale, first, 60 * kStaleSecond);
  ASSERT_EQ(stale.Result().size(), 1u);
  EXPECT_EQ(stale.Result()[0].stale, 2u);
  EXPECT_EQ(stale.Result()[0].longest.delay_ns, 9 * kStaleSecond);
  // After a chunk that is missing, steps are of no use.
  const Chunk later = With(5, {PacketAt(1)});
  AddTo(stale, later, 600 * kStaleSecond);
  EXPECT_EQ(stale.Result()[0].packets, 2u);
}

TEST(StalePackets, ChunkSentAgain_CountsOnce) {
  StalePackets stale;
  Chunk scraped = With(0, {PacketAt(1 * kStaleSecond), PacketAt(2 * kStaleSecond)});
  scraped.Incomplete();
  const Chunk whole = With(0, {PacketAt(1 * kStaleSecond), PacketAt(2 * kStaleSecond)});
  AddTo(stale, scraped, 9 * kStaleSecond);
  AddTo(stale, whole, 10 * kStaleSecond);
  EXPECT_EQ(stale.Result().at(0).packets, 2u);
}

}  // namespace
}  // namespace ringscope::testing
