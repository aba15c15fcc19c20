#include "core/ledger/eviction_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/ledger/ledger_sinks.h"
#include "core/ledger/loss_timeline.h"

namespace ringscope {
namespace {

using ::testing::ElementsAre;

SequenceKey WriterOf(uint16_t producer) { return {ProducerId{producer}, WriterId{1}}; }

/// A packet of producer `lost` that was overwritten for a commit of `by`.
PacketAccount Evicted(uint16_t lost, std::optional<uint16_t> by, uint64_t time_ns = 0) {
  PacketAccount account;
  account.buffer = BufferId{1};
  account.sequence = WriterOf(lost);
  account.fate = Fate::kOverwritten;
  if (by) account.culprit = ChunkName{WriterOf(*by), ChunkId{7}};
  account.written = {.record = time_ns, .time_ns = time_ns};
  return account;
}

PacketAccount WasRead(uint16_t producer, std::optional<uint64_t> time_ns) {
  PacketAccount account;
  account.buffer = BufferId{1};
  account.sequence = WriterOf(producer);
  account.written = {.record = {}, .time_ns = time_ns};
  return account;
}

TEST(EvictionTable, Top_SumsUpTheRest) {
  EvictionTable table;
  for (int i = 0; i < 5; ++i) table.OnPacketFate(Evicted(1, 2));
  for (int i = 0; i < 3; ++i) table.OnPacketFate(Evicted(3, 1));
  table.OnPacketFate(Evicted(4, 4));
  table.OnPacketFate(Evicted(1, 5));
  table.OnPacketFate(Evicted(1, std::nullopt));
  table.OnPacketFate(WasRead(1, 0));

  const EvictionMatrix matrix = table.Top(2);
  EXPECT_THAT(matrix.lost, ElementsAre(WriterOf(1), WriterOf(3)));
  EXPECT_THAT(matrix.pushed, ElementsAre(WriterOf(2), WriterOf(1)));
  EXPECT_THAT(matrix.packets,
              ElementsAre(ElementsAre(5, 0, 1), ElementsAre(0, 3, 0), ElementsAre(0, 0, 1)));
  EXPECT_EQ(matrix.other_rows, 1u);
  EXPECT_EQ(matrix.other_columns, 2u);
  EXPECT_EQ(matrix.unknown, 1u);
  EXPECT_EQ(matrix.all(), 10u);

  EXPECT_EQ(table.Top(100).other_rows, 0u);
  EXPECT_EQ(table.Top(100).all(), 10u);
  EXPECT_EQ(EvictionTable().Top(3).all(), 0u);
}

TEST(LossTimeline, Lanes_CountByTimeOfCommit) {
  LossTimeline timeline({.by_record = false, .first = 1000, .last = 1999}, 10);
  timeline.AddLane(BufferId{1}, {});
  timeline.AddLane(BufferId{1}, WriterOf(2));
  timeline.AddLane(BufferId{1}, WriterOf(2));  // again: nothing
  ASSERT_EQ(timeline.lanes().size(), 2u);
  EvictionTable evictions;
  LedgerSinks both({&timeline, &evictions});
  both.OnPacketFate(Evicted(2, 1, 1000));
  both.OnPacketFate(WasRead(2, 1099));
  both.OnPacketFate(Evicted(3, 1, 1100));
  both.OnPacketFate(Evicted(2, 1, 1999));
  both.OnPacketFate(WasRead(2, 5000));  // after the end: at the end
  both.OnPacketFate(WasRead(2, std::nullopt));
  PacketAccount elsewhere = WasRead(2, 1500);
  elsewhere.buffer = BufferId{9};
  both.OnPacketFate(elsewhere);

  const TimelineLane& buffer = timeline.lanes()[0];
  EXPECT_EQ(buffer.all.written, 6u);
  EXPECT_EQ(buffer.all.lost, 3u);
  EXPECT_EQ(buffer.intervals[0].written, 2u);
  EXPECT_EQ(buffer.intervals[0].lost, 1u);
  EXPECT_EQ(buffer.intervals[1].lost, 1u);
  EXPECT_EQ(buffer.intervals[9].written, 2u);
  EXPECT_EQ(buffer.intervals[9].lost, 1u);
  EXPECT_EQ(timeline.lanes()[1].all.written, 5u);
  EXPECT_EQ(timeline.lanes()[1].all.lost, 2u);
  EXPECT_EQ(evictions.Top(9).all(), 3u);
}

TEST(LossTimeline, AxisOfRecords_WhereThereAreNoTimes) {
  LossTimeline timeline({.by_record = true, .first = 10, .last = 13}, 4);
  timeline.AddLane(BufferId{1}, {});
  PacketAccount account = WasRead(1, std::nullopt);
  account.written.record = 12;
  timeline.OnPacketFate(account);
  EXPECT_EQ(timeline.lanes()[0].intervals[2].written, 1u);
}

TEST(GrowingLossTimeline, Intervals_GrowWithTheSession) {
  GrowingLossTimeline timeline;
  EXPECT_TRUE(timeline.empty());
  uint64_t written = 0, lost = 0;
  for (uint64_t i = 0; i < 1'000; ++i) {
    const bool is_lost = i < 500;
    timeline.Add(7'000'000'000 + i * 3'000'000, is_lost);
    ++written;
    lost += is_lost;
  }
  timeline.Add(6'000'000'000, true);  // before the first
  EXPECT_LE(timeline.first_ns(), 6'000'000'000u);
  EXPECT_EQ(timeline.first_written_ns(), 6'000'000'000u);
  EXPECT_GT(timeline.first_ns() + timeline.interval_ns(), 6'000'000'000u);
  const std::vector<TimelineInterval>& intervals = timeline.intervals();
  EXPECT_LE(intervals.size(), GrowingLossTimeline::kIntervals);
  EXPECT_GT(intervals.size(), GrowingLossTimeline::kIntervals / 2 - 1);
  EXPECT_EQ((9'997'000'000 - timeline.first_ns()) / timeline.interval_ns() + 1, intervals.size());
  TimelineInterval all;
  for (const TimelineInterval& interval : intervals) all += interval;
  EXPECT_EQ(all.written, written + 1);
  EXPECT_EQ(all.lost, lost + 1);
  EXPECT_EQ(intervals.front().lost, intervals.front().written);
  EXPECT_EQ(intervals.back().lost, 0u);
}

}  // namespace
}  // namespace ringscope
