#include "core/session/session_clock.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/wire.h"
#include "core/testing/message_text.h"

namespace ringscope::testing {
namespace {

/// A ClockSnapshot message: what two clocks showed at one moment.
std::string Snapshot(uint64_t real_ns, uint64_t boot_ns) {
  constexpr uint32_t kClocks = 1, kClockId = 1, kTimestamp = 2, kReal = 1;
  return Sub(kClocks, Uint(kClockId, kReal) + Uint(kTimestamp, real_ns)) +
         Sub(kClocks, Uint(kClockId, kBootTime) + Uint(kTimestamp, boot_ns));
}

/// A clock after a record at 2 s, and a snapshot: 2 s since boot were 2023-11-14 22:13:20 UTC.
std::string TextAt(TimeBase base, uint64_t boot_ns) {
  SessionClock clock(base);
  clock.AddRecord({.time_ns = 2'000'000'000, .body = Note{}});
  EXPECT_EQ(clock.start_ns(), 2'000'000'000u);
  if (base == TimeBase::kWall) {
    EXPECT_EQ(clock.Text(boot_ns), "?");
  }
  clock.AddRecord(
      {.time_ns = 2'500'000'000,
       .body = ClockSnapshotRecord{Snapshot(1'700'000'000'000'000'000, 2'000'000'000)}});
  return clock.Text(boot_ns);
}

TEST(SessionClock, TimesByEachBase) {
  EXPECT_EQ(TextAt(TimeBase::kSession, 3'250'000'000), "1.250 s");
  EXPECT_EQ(TextAt(TimeBase::kSession, 1'000'000'000), "0 ns");
  EXPECT_EQ(TextAt(TimeBase::kBoot, 3'250'000'007), "3.250000007 s");
  EXPECT_EQ(TextAt(TimeBase::kWall, 3'250'001'000), "2023-11-14 22:13:21.250001 UTC");
}

}  // namespace
}  // namespace ringscope::testing
