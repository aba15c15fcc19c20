// Files made to exhaust their reader: what can be read of them is, and the rest is reported. What
// they take of memory is tested with the tool (cli/memory_test.cc).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/examine/examination.h"
#include "formats/testing/frames.h"
#include "formats/testing/hostile_traces.h"
#include "formats/trace/perfetto_trace.h"
#include "formats/trace/trace_file_scan.h"

namespace ringscope {
namespace {

using ::testing::Contains;
using testing::HostileTraces;

ScannedTrace ScanHostile(std::string bytes) {
  return ScanTraceFile(MakeMemorySource(std::move(bytes))).value();
}

std::string HostileTrace(const char* name) {
  for (const HostileTraces::Case& one : HostileTraces::All())
    if (std::string_view(one.name) == name) return one.make();
  ADD_FAILURE() << name;
  return {};
}

TEST(HostileTrace, LargePacketsArePassedOver) {
  for (const char* name : {"LargePacket", "LargePacketInAFrame", "LargePacketInAPacket"}) {
    const TraceFacts facts = ScanHostile(HostileTrace(name)).sessions.at(0);
    EXPECT_EQ(facts.too_large, 1u) << name;
    EXPECT_EQ(facts.error_count, 0u) << name;
    EXPECT_EQ(facts.data_packets, HostileTraces::kGoodPackets) << name;
    EXPECT_THAT(ExamineTrace(facts).unknown,
                Contains("What is in 1 packet: too large to be looked at."))
        << name;
  }
}

TEST(HostileTrace, LargePacketsOfOtherReadersAreAnErrorOrDamage) {
  const std::string bytes = HostileTrace("LargePacket");
  const auto failing = TraceReader::Open(MakeMemorySource(bytes)).value();
  RawPacket packet;
  ASSERT_TRUE(failing->Next(packet).value());
  EXPECT_EQ(failing->Next(packet).error().code, ErrorCode::kLimit);
  const auto skipping =
      TraceReader::Open(MakeMemorySource(bytes), TraceReader::OnDamage::kSkip).value();
  uint64_t packets = 0;
  while (skipping->Next(packet).value()) ++packets;
  EXPECT_EQ(packets, HostileTraces::kGoodPackets);
  ASSERT_EQ(skipping->damage_count(), 1u);
  EXPECT_TRUE(skipping->damage().front().is_left_out);
  EXPECT_GT(skipping->damage().front().bytes, uint64_t{256} << 20);
}

TEST(HostileTrace, SizesThatNoFileHasAreDamage) {
  for (const char* name : {"SizeOf2To63", "SizeOf2To64"}) {
    const TraceFacts facts = ScanHostile(HostileTrace(name)).sessions.at(0);
    EXPECT_EQ(facts.data_packets, HostileTraces::kGoodPackets) << name;
    EXPECT_EQ(facts.too_large, 0u) << name;
    EXPECT_EQ(facts.error_count, 1u) << name;
  }
}

TEST(HostileTrace, SizesThatAPacketsPacketsHaveNotAreDamage) {
  const TraceFacts facts = ScanHostile(HostileTrace("SizeOf2To63InAPacket")).sessions.at(0);
  EXPECT_EQ(facts.data_packets, HostileTraces::kGoodPackets + 1);
  EXPECT_EQ(facts.too_large, 0u);
  EXPECT_EQ(facts.error_count, 1u);
  EXPECT_FALSE(facts.is_cut_off);
  // A large packet at the end of a compressed file, whose size is not known before.
  const std::string large = HostileTrace("LargePacket");
  const TraceFacts cut =
      ScanHostile(testing::DataFrame(large.substr(0, large.size() / 2))).sessions.at(0);
  EXPECT_TRUE(cut.is_cut_off);
  EXPECT_EQ(cut.error_count, 0u);
  EXPECT_EQ(cut.data_packets, 1u);
}

TEST(HostileTrace, PacketsInPacketsAreReadOnce) {
  const TraceFacts facts = ScanHostile(HostileTrace("PacketsInPacketsInPackets")).sessions.at(0);
  EXPECT_EQ(facts.data_packets, HostileTraces::kGoodPackets);
  EXPECT_EQ(facts.error_count, 1u);
}

TEST(HostileTrace, WhatIsNotKeptIsCounted) {
  const TraceFacts sequences = ScanHostile(HostileTrace("Sequences")).sessions.at(0);
  EXPECT_EQ(sequences.sequences.size(), TraceScan::kMaxSequences);
  EXPECT_EQ(sequences.sequences.size() + sequences.sequences_left_out,
            400'000u);  // the good packets are of the first sequence
  const TraceFacts events = ScanHostile(HostileTrace("EventsOfABundle")).sessions.at(0);
  EXPECT_GT(events.times_left_out, 0u);
  const TraceFacts config = ScanHostile(HostileTrace("BuffersOfAConfig")).sessions.back();
  EXPECT_GT(config.config_bytes_left_out, TraceFacts::kMaxConfigBytes);
  EXPECT_FALSE(config.config);
}

}  // namespace
}  // namespace ringscope
