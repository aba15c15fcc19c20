#include "core/write_rate.h"

#include <gtest/gtest.h>

namespace ringscope {
namespace {

constexpr uint64_t kMs = 1'000'000;

// bytes  5 . 3 4 . . 1
// ms     0 1 2 3 4 5 6
WriteRate Example() {
  WriteRate rate;
  rate.Add(1000 * kMs, 5);
  rate.Add(1002 * kMs, 3);
  rate.Add(1003 * kMs, 4);
  rate.Add(1006 * kMs, 1);
  return rate;
}

TEST(WriteRate, FindsTheLargestBurstOfAnyLength) {
  const WriteRate rate = Example();
  EXPECT_EQ(rate.PeakIn(kMs), 5u);
  EXPECT_EQ(rate.PeakIn(2 * kMs), 7u);
  EXPECT_EQ(rate.PeakIn(4 * kMs), 12u);
  EXPECT_EQ(rate.PeakIn(1000 * kMs), 13u);
  EXPECT_EQ(rate.bytes(), 13u);
}

TEST(WriteRate, FindsTheLongestWindowWithinALimit) {
  const WriteRate rate = Example();
  EXPECT_EQ(rate.LongestWindow(4), std::nullopt);
  EXPECT_EQ(rate.LongestWindow(6), kMs);
  EXPECT_EQ(rate.LongestWindow(8), 3 * kMs);
  EXPECT_EQ(rate.LongestWindow(13), 7 * kMs);
}

TEST(WriteRate, ALongLogHasWiderBins) {
  WriteRate rate;
  for (uint64_t second = 0; second < 1000; ++second) rate.Add(second * 1000 * kMs, 1);
  EXPECT_EQ(rate.bin_ns(), 8 * kMs);
  EXPECT_EQ(rate.bytes(), 1000u);
  EXPECT_EQ(rate.PeakIn(10'000 * kMs), 10u);
}

TEST(WriteRate, TimesThatGoBackCountAsTheFirst) {
  WriteRate rate;
  rate.Add(5 * kMs, 1);
  rate.Add(kMs, 2);
  EXPECT_EQ(rate.PeakIn(kMs), 3u);
}

}  // namespace
}  // namespace ringscope
