#include "core/perfetto/trace_config_facts.h"

#include <gtest/gtest.h>

#include "core/base/wire.h"

namespace ringscope {
namespace {

constexpr uint64_t kMs = 1'000'000;

std::string Message(uint32_t number, const std::string& content) {
  std::string out;
  wire::AppendBytes(out, number, wire::AsBytes(content));
  return out;
}

std::string Streaming(uint64_t period_ms) {
  std::string config;
  wire::AppendUint(config, 8, 1);
  wire::AppendUint(config, 9, period_ms);
  wire::AppendUint(config, 13, 300);
  return config;
}

TEST(TraceConfigFacts, SayHowTheSessionIsRead) {
  const std::string config = Streaming(500);
  const TraceConfigFacts facts = ReadTraceConfigFacts(wire::AsBytes(config));
  EXPECT_TRUE(facts.write_into_file);
  EXPECT_EQ(facts.PeriodNs(), 500 * kMs);
  EXPECT_EQ(facts.clear_period_ms, std::nullopt);
}

TEST(TraceConfigFacts, SourcesNameTheirBuffers) {
  const std::string source = Message(1, "sched");
  const std::string config = Message(1, Message(7, "first")) + Message(1, Message(7, "second")) +
                             Message(2, Message(1, source + Message(11, "second"))) +
                             Message(2, Message(1, source + Message(11, "none")));
  EXPECT_EQ(
      ReadTraceConfigFacts(wire::AsBytes(config)).sources,
      (std::vector<ConfiguredSource>{{"sched", 1}, {"sched", 0, /*has_unknown_target=*/true}}));
}

TEST(TraceConfigFacts, PeriodsAreAsTheServiceTakesThem) {
  EXPECT_EQ(TraceConfigFacts().PeriodNs(), 5000 * kMs);
  EXPECT_EQ(ReadTraceConfigFacts(wire::AsBytes(Streaming(7))).PeriodNs(), 100 * kMs);
  // A hostile one does not overflow.
  EXPECT_EQ(ReadTraceConfigFacts(wire::AsBytes(Streaming(UINT64_MAX))).PeriodNs() % kMs, 0u);
}

TEST(TraceConfigFacts, SayWhetherAFlushComesBeforeAWrite) {
  const auto flushes = [](uint64_t period_ms, uint64_t mode) {
    std::string config = Streaming(period_ms);
    wire::AppendUint(config, 44, mode);
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
  std::string mode;
  wire::AppendUint(mode, 1, 4);
  const std::string config =
      Message(17, mode + Message(2, Message(1, "crash")) + Message(2, Message(1, "slow")));
  const TraceConfigFacts facts = ReadTraceConfigFacts(wire::AsBytes(config));
  EXPECT_EQ(facts.trigger_mode, TriggerMode::kCloneSnapshot);
  EXPECT_EQ(facts.triggers, (std::vector<std::string>{"crash", "slow"}));
}

TEST(TraceConfigFacts, NameTheDataSourcesOfEachBuffer) {
  std::string target;
  wire::AppendUint(target, 2, 1);
  std::string clear;
  wire::AppendUint(clear, 1, 250);
  const std::string config = Message(2, Message(1, Message(1, "track_event"))) +
                             Message(2, Message(1, Message(1, "linux.ftrace") + target)) +
                             Message(21, clear) + "\x0F";  // malformed from here on
  const TraceConfigFacts facts = ReadTraceConfigFacts(wire::AsBytes(config));
  EXPECT_EQ(facts.sources,
            (std::vector<ConfiguredSource>{{"track_event", 0}, {"linux.ftrace", 1}}));
  EXPECT_EQ(facts.clear_period_ms, 250u);
}

}  // namespace
}  // namespace ringscope
