#include "core/perfetto/trace_config_facts.h"

#include <gtest/gtest.h>

#include "core/base/wire.h"
#include "core/testing/message_text.h"

namespace ringscope::testing {
namespace {

constexpr uint64_t kMs = 1'000'000;

std::string Streaming(uint64_t period_ms) {
  return Uint(8, 1) + Uint(9, period_ms) + Uint(13, 300);
}

TEST(TraceConfigFacts, SayHowTheSessionIsRead) {
  const std::string config = Streaming(500);
  const TraceConfigFacts facts = ReadTraceConfigFacts(wire::AsBytes(config));
  EXPECT_TRUE(facts.write_into_file);
  EXPECT_EQ(facts.PeriodNs(), 500 * kMs);
  EXPECT_EQ(facts.clear_period_ms, std::nullopt);
}

TEST(TraceConfigFacts, SourcesNameTheirBuffers) {
  const std::string source = Sub(1, "sched");
  const std::string config = Sub(1, Sub(7, "first")) + Sub(1, Sub(7, "second")) +
                             Sub(2, Sub(1, source + Sub(11, "second"))) +
                             Sub(2, Sub(1, source + Sub(11, "none")));
  EXPECT_EQ(ReadTraceConfigFacts(wire::AsBytes(config)).sources,
            (std::vector<ConfiguredSource>{
                {.name = "sched", .target_buffer = 1, .own = source, .target_name = "second"},
                {.name = "sched", .target_buffer = 0, .own = source, .target_name = "none"}}));
}

// A producer's copy of a config has the session and the buffer's id, too.
TEST(TraceConfigFacts, OwnFieldsOfASource_AreWhatTheServiceLeavesAsTheyAre) {
  const std::string own = Sub(1, "sched") + Sub(100, "x"), filled_in = Uint(2, 7) + Uint(4, 3);
  const std::string config = Sub(2, Sub(1, Sub(100, "x") + Sub(1, "sched") + Uint(2, 0))) +
                             Sub(2, Sub(1, own) + Sub(2, "a producer's name"));
  const TraceConfigFacts facts = ReadTraceConfigFacts(wire::AsBytes(config));
  ASSERT_EQ(facts.sources.size(), 2u);
  for (const ConfiguredSource& source : facts.sources) EXPECT_EQ(source.own, own);
  EXPECT_FALSE(facts.sources[0].filtered);
  EXPECT_TRUE(facts.sources[1].filtered);
  EXPECT_EQ(OwnFieldsOf(wire::AsBytes(filled_in + own)), own);
}

TEST(TraceConfigFacts, PeriodsAreAsTheServiceTakesThem) {
  EXPECT_EQ(TraceConfigFacts().PeriodNs(), 5000 * kMs);
  EXPECT_EQ(ReadTraceConfigFacts(wire::AsBytes(Streaming(7))).PeriodNs(), 100 * kMs);
  // A hostile one does not overflow.
  EXPECT_EQ(ReadTraceConfigFacts(wire::AsBytes(Streaming(UINT64_MAX))).PeriodNs() % kMs, 0u);
}

TEST(TraceConfigFacts, SayWhetherAFlushComesBeforeAWrite) {
  const auto flushes = [](uint64_t period_ms, uint64_t mode) {
    const std::string config = Streaming(period_ms) + Uint(44, mode);
    return ReadTraceConfigFacts(wire::AsBytes(config)).FlushesBeforeWrite();
  };
  for (const uint64_t automatic : {uint64_t{0}, uint64_t{1}}) {
    EXPECT_FALSE(flushes(5000, automatic));
    EXPECT_TRUE(flushes(5001, automatic));
  }
  EXPECT_FALSE(flushes(60'000, 2));
  EXPECT_TRUE(flushes(100, 3));
}

TEST(TraceConfigFacts, NameTheTriggers) {
  const std::string config = Sub(17, Uint(1, 4) + Sub(2, Sub(1, "crash")) + Sub(2, Sub(1, "slow")));
  const TraceConfigFacts facts = ReadTraceConfigFacts(wire::AsBytes(config));
  EXPECT_EQ(facts.trigger_mode, TriggerMode::kCloneSnapshot);
  EXPECT_EQ(facts.triggers, (std::vector<std::string>{"crash", "slow"}));
}

TEST(TraceConfigFacts, NameTheDataSourcesOfEachBuffer) {
  const std::string config = Sub(2, Sub(1, Sub(1, "track_event"))) +
                             Sub(2, Sub(1, Sub(1, "linux.ftrace") + Uint(2, 1))) +
                             Sub(21, Uint(1, 250)) + "\x0F";  // malformed from here on
  const TraceConfigFacts facts = ReadTraceConfigFacts(wire::AsBytes(config));
  EXPECT_EQ(facts.sources, (std::vector<ConfiguredSource>{{"track_event", 0, Sub(1, "track_event")},
                                                          {.name = "linux.ftrace",
                                                           .target_buffer = 1,
                                                           .own = Sub(1, "linux.ftrace"),
                                                           .set_index = 1}}));
  EXPECT_FALSE(facts.is_well_formed);
  EXPECT_EQ(facts.clear_period_ms, 250u);
}

TEST(ClearPeriod, IsATenthOfTheReachRoundedDown) {
  const auto ms = [](uint64_t reach_ms) { return ClearPeriodFor(reach_ms * 1'000'000, {}).ms; };
  EXPECT_EQ(ms(399), 0u) << "too little for any period";
  EXPECT_EQ(ms(430), 40u);
  EXPECT_EQ(ms(500), 50u);
  EXPECT_EQ(ms(1'999), 100u);
  EXPECT_EQ(ms(4'200), 400u);
  EXPECT_EQ(ms(50'000), 5000u);
  EXPECT_EQ(ms(99'000), 5000u);
  EXPECT_EQ(
      ClearPeriodFor(4'200'000'000, {}).reason.text,
      "producers repeat their state, so that all but 400.0 ms of what the ring holds (4.200 s) "
      "can be used");
}

TEST(TypedNumbers, SizesAreRoundedUpAndPeriodsDown) {
  EXPECT_EQ(TypedSize(4096), 4096u);
  EXPECT_EQ(TypedSize(9 << 10), 16u << 10);
  EXPECT_EQ(TypedSize(700 << 10), 1u << 20);
  EXPECT_EQ(TypedSize(1236 << 10), 1536u << 10);
  EXPECT_EQ(TypedSize(5 << 20), 6u << 20);
  EXPECT_EQ(RecommendedSize(6544 << 10), 8u << 20);
  EXPECT_EQ(TypedPeriod(0), 0u);
  EXPECT_EQ(TypedPeriod(9), 5u);
  EXPECT_EQ(TypedPeriod(99), 50u);
  EXPECT_EQ(TypedPeriod(419), 400u);
  EXPECT_EQ(TypedPeriod(29'000), 25'000u);
}

TEST(ClearPeriod, OfAnUnknownReachIsATenthOfTheSession) {
  TraceConfigFacts config;
  EXPECT_EQ(ClearPeriodFor({}, config).ms, 5000u);
  config.duration_ms = 9'000;
  EXPECT_EQ(ClearPeriodFor({}, config).ms, 500u);
  config.duration_ms = 100;
  EXPECT_EQ(ClearPeriodFor({}, config).ms, 40u);
}

TEST(ClearPeriod, AsShortAsTheConfigsIsNoChange) {
  TraceConfigFacts config;
  config.clear_period_ms = 530;
  EXPECT_FALSE(ClearPeriodFor(4'200'000'000, config).reason.empty());
  config.clear_period_ms = 500;
  EXPECT_TRUE(ClearPeriodFor(4'200'000'000, config).reason.empty());
}

}  // namespace
}  // namespace ringscope::testing
