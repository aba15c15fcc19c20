#include <gtest/gtest.h>

#include <string>

#include "core/base/wire.h"
#include "core/session/session_notes.h"
#include "core/testing/message_text.h"

namespace ringscope::testing {
namespace {

/// A ClockSnapshot message: what two clocks showed at one moment.
std::string Snapshot(uint64_t real_ns, uint64_t boot_ns) {
  constexpr uint32_t kClocks = 1, kClockId = 1, kTimestamp = 2, kReal = 1;
  return Sub(kClocks, Uint(kClockId, kReal) + Uint(kTimestamp, real_ns)) +
         Sub(kClocks, Uint(kClockId, kBootTime) + Uint(kTimestamp, boot_ns));
}

TEST(SessionClock, TimesAreFromTheFirstRecordOn) {
  SessionClock clock;
  clock.AddRecord({.time_ns = 2'000'000'000, .body = Note{}});
  EXPECT_EQ(clock.start_ns(), 2'000'000'000u);
  EXPECT_FALSE(clock.wall_offset_ns());
  clock.AddRecord(
      {.time_ns = 2'500'000'000,
       .body = ClockSnapshotRecord{Snapshot(1'700'000'000'000'000'000, 2'000'000'000)}});
  EXPECT_EQ(clock.Text(3'250'000'000), "1.250 s");
  EXPECT_EQ(clock.Text(1'000'000'000), "-1.000 s");
  EXPECT_EQ(clock.wall_offset_ns(), 1'699'999'998'000'000'000u);
}

// A recording may begin long before its session does.
TEST(SessionClock, TimesAreFromTheSessionsStartOn) {
  SessionClock clock;
  clock.AddRecord({.time_ns = 2'000'000'000, .body = Note{}});
  for (const uint64_t ns : {9'000'000'000, 9'500'000'000})
    clock.AddRecord({.time_ns = ns, .body = SessionChanged{.change = SessionChange::kStarted}});
  EXPECT_EQ(clock.Text(9'250'000'000), "250.0 ms");
  EXPECT_EQ(clock.Text(8'000'000'000), "-1.000 s");
}

}  // namespace
}  // namespace ringscope::testing
