#include "commands/record/status_line.h"

#include <gtest/gtest.h>

namespace ringscope::record {
namespace {

TEST(StatusLine, TellsWhatIsGoingOn) {
  StatusInfo info;
  info.counts = {.producers = 3, .sequences = 41, .chunks = 4211};
  info.queue = {.queued = 1258291};
  info.bytes_per_second = 12'340'000;
  info.seconds = 72.9;
  EXPECT_EQ(FormatStatus(info),
            "1:12  3 producers  41 sequences  12.3 MB/s  4,211 chunks  queue 1.20 MiB  no gaps");
  info.queue.gaps = 2;
  info.queue.dropped_bytes = 65536;
  EXPECT_TRUE(FormatStatus(info).ends_with("  2 gaps (64 KiB lost)")) << FormatStatus(info);
}

TEST(RateMeter, IsOfTheLastSecond) {
  RateMeter meter;
  EXPECT_EQ(meter.Update(500, 0.5), 0);
  EXPECT_EQ(meter.Update(1000, 1.0), 1000);
  EXPECT_EQ(meter.Update(9000, 1.5), 1000);
  EXPECT_EQ(meter.Update(9000, 2.0), 8000);
  EXPECT_EQ(meter.Update(9000, 4.0), 0);
}

}  // namespace
}  // namespace ringscope::record
