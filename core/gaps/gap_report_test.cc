#include <gtest/gtest.h>

#include <string>

#include "core/base/wire.h"
#include "core/gaps/gap_report.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

std::string Bundle(uint32_t cpu, bool lost) {
  std::string bundle, packet;
  wire::AppendUint(bundle, 1, cpu);
  if (lost) wire::AppendUint(bundle, 3, 1);
  wire::AppendBytes(packet, proto::TracePacket::kFtraceEvents, wire::AsBytes(bundle));
  return packet;
}

std::string Stats(uint64_t phase, uint32_t cpu, uint64_t overrun, uint64_t dropped) {
  std::string stats, of_cpu, packet;
  wire::AppendUint(of_cpu, 1, cpu);
  wire::AppendUint(of_cpu, 3, overrun);
  wire::AppendUint(of_cpu, 8, dropped);
  wire::AppendBytes(stats, 2, wire::AsBytes(of_cpu));
  wire::AppendUint(stats, 1, phase);  // after the counters: fields have no order
  wire::AppendBytes(packet, proto::TracePacket::kFtraceStats, wire::AsBytes(stats));
  return packet;
}

TEST(FtraceLosses, Bundles_ByCpu) {
  FtraceCounters counters;
  for (const std::string& packet : {Bundle(0, false), Bundle(2, true), Bundle(2, false)})
    counters.AddPacket(wire::AsBytes(packet));
  const auto result = FtraceLossesOf(counters);
  ASSERT_EQ(result.size(), 1u);
  EXPECT_EQ(result[0].cpu, 2u);
  EXPECT_EQ(result[0].bundles, 2u);
  EXPECT_EQ(result[0].bundles_after_loss, 1u);
  EXPECT_FALSE(result[0].overrun);
}

TEST(FtraceLosses, Stats_CountFromTheStart) {
  FtraceCounters counters;
  for (const std::string& packet : {Stats(1, 3, 100, 7), Stats(2, 3, 140, 7)})
    counters.AddPacket(wire::AsBytes(packet));
  const auto result = FtraceLossesOf(counters);
  ASSERT_EQ(result.size(), 1u);
  EXPECT_EQ(result[0].overrun, 40u);
  EXPECT_EQ(result[0].dropped_events, 0u);
}

TEST(FtraceLosses, OtherContent_IsIgnored) {
  EXPECT_TRUE(FtraceCounters::Wants(proto::TracePacket::kFtraceEvents));
  EXPECT_TRUE(FtraceCounters::Wants(proto::TracePacket::kFtraceStats));
  EXPECT_FALSE(FtraceCounters::Wants(11));
  std::string packet;
  wire::AppendBytes(packet, 11, wire::AsBytes(Bundle(0, true)));
  FtraceCounters counters;
  counters.AddPacket(wire::AsBytes(packet));
  EXPECT_TRUE(FtraceLossesOf(counters).empty());
}

}  // namespace
}  // namespace ringscope
