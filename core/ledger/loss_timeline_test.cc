#include <gtest/gtest.h>

#include "core/gaps/gap_report.h"

namespace ringscope {
namespace {

TEST(LossTimeline, Intervals_GrowWithTheSession) {
  LossTimeline timeline;
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
  EXPECT_LE(intervals.size(), LossTimeline::kIntervals);
  EXPECT_GT(intervals.size(), LossTimeline::kIntervals / 2 - 1);
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
