#include "core/base/write_rate.h"

#include <gtest/gtest.h>

namespace ringscope {
namespace {

constexpr uint64_t kRateMs = 1'000'000;

// bytes  5 . 3 4 . . 1
// ms     0 1 2 3 4 5 6
WriteRate Example() {
  WriteRate rate;
  rate.Add(1000 * kRateMs, 5);
  rate.Add(1002 * kRateMs, 3);
  rate.Add(1003 * kRateMs, 4);
  rate.Add(1006 * kRateMs, 1);
  return rate;
}

TEST(WriteRate, FindsTheLargestBurstOfAnyLength) {
  const WriteRate rate = Example();
  EXPECT_EQ(rate.PeakIn(kRateMs), 5u);
  EXPECT_EQ(rate.PeakIn(2 * kRateMs), 7u);
  EXPECT_EQ(rate.PeakIn(4 * kRateMs), 12u);
  EXPECT_EQ(rate.PeakIn(1000 * kRateMs), 13u);
  EXPECT_EQ(rate.bytes(), 13u);
}

TEST(WriteRate, FindsTheLongestWindowWithinALimit) {
  const WriteRate rate = Example();
  EXPECT_EQ(rate.LongestWindow(4), std::nullopt);
  EXPECT_EQ(rate.LongestWindow(6), kRateMs);
  EXPECT_EQ(rate.LongestWindow(8), 3 * kRateMs);
  EXPECT_EQ(rate.LongestWindow(13), 7 * kRateMs);
}

TEST(WriteRate, ALongLogHasWiderBins) {
  WriteRate rate;
  for (uint64_t second = 0; second < 1000; ++second) rate.Add(second * 1000 * kRateMs, 1);
  EXPECT_EQ(rate.bin_ns(), 8 * kRateMs);
  EXPECT_EQ(rate.bytes(), 1000u);
  EXPECT_EQ(rate.PeakIn(10'000 * kRateMs), 10u);
}

TEST(WriteRate, TimesThatGoBackCountAsTheFirst) {
  WriteRate rate;
  rate.Add(5 * kRateMs, 1);
  rate.Add(kRateMs, 2);
  EXPECT_EQ(rate.PeakIn(kRateMs), 3u);
}

}  // namespace
}  // namespace ringscope
