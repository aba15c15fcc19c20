#include "core/trace/stage_account.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/testing/message_text.h"

namespace ringscope::testing {
namespace {

SequenceStages StagesIn(const std::string& buffer,
                        const std::vector<std::pair<Stage, uint64_t>>& packets) {
  SequenceStages sequence;
  sequence.buffer = buffer;
  for (const auto& [stage, count] : packets) sequence[stage].count = {count, 10 * count};
  return sequence;
}

TEST(StageAccounts, AddUp) {
  StageAccounts accounts;
  accounts.sequences = {
      StagesIn("buffers[0]", {{Stage::kBuffer, 1}, {Stage::kLeft, 90}}),
      StagesIn("buffers[1]", {{Stage::kBuffer, 5}, {Stage::kSharedMemory, 2}, {Stage::kLeft, 2}})};
  accounts.sequences[1].unusable = 2;
  accounts.sequences[0].process = accounts.sequences[1].process = {.name = "app", .pid = 7};
  accounts.sequences.push_back(StagesIn("buffers[1]", {{Stage::kLeft, 0}}));
  accounts.sequences[2].process = {.name = "app", .pid = 8};
  accounts.Sum();
  ASSERT_EQ(accounts.processes.size(), 2u);
  EXPECT_EQ((accounts.processes[{"app", 7, 0}].written()), (PacketCount{100, 1000}));
  EXPECT_EQ((accounts.processes[{"app", 8, 0}].written()), PacketCount());
  EXPECT_EQ(accounts.all.written(), (PacketCount{100, 1000}));
  EXPECT_EQ(accounts.buffers["buffers[1]"][Stage::kBuffer].count.packets, 5u);
  EXPECT_EQ(
      StagesText(accounts),
      "100 packets were written: 2 were unfinished in shared memory; buffers[0] lost 1 (1.0%); "
      "buffers[1] lost 5 (5.0%); 92 are in the trace, 90 of them usable.");
  accounts.buffers["buffers[1]"].waiting = 4;
  EXPECT_EQ(
      StagesText(accounts),
      "100 packets were written: 2 were unfinished in shared memory; buffers[0] lost 1 (1.0%); "
      "buffers[1] lost 1 (1.0%); 4 are still in buffers[1], not read; 92 are in the trace, 90 of "
      "them usable.");
}

TEST(StageAccounts, WhatIsNotKnownIsNoNumber) {
  StageAccounts accounts;
  accounts.sequences = {StagesIn("buffers[0]", {{Stage::kLeft, 7}})};
  for (const Stage stage : {Stage::kSharedMemory, Stage::kBuffer, Stage::kFile})
    accounts.sequences[0][stage].is_known = false;
  accounts.sequences[0][Stage::kBuffer].places = 3;
  accounts.sequences[0][Stage::kUnknown].places = 1;
  accounts.Sum();
  EXPECT_FALSE(accounts.all.written());
  EXPECT_EQ(
      StagesText(accounts),
      "packets are missing in buffers[0] at 3 places; packets are missing at 1 place; 7 packets "
      "are in the trace. Traces do not show losses in shared memory or on the way to the "
      "file.");
}

TEST(StageAccounts, DropsOfWritersAreCountedInPlaces) {
  StageAccounts accounts;
  accounts.sequences = {StagesIn("buffers[0]", {{Stage::kSharedMemory, 1}, {Stage::kLeft, 3}})};
  accounts.sequences[0][Stage::kSharedMemory].places = 2;
  accounts.Sum();
  EXPECT_EQ(
      StagesText(accounts),
      "4 packets were written: 1 was unfinished in shared memory; packets were dropped in shared "
      "memory at 2 places; 3 are in the trace.");
}

TEST(StageAccounts, KernelLosses_AreItsCountersOrPlaces) {
  FtraceCounters counters;
  const auto add = [&](uint32_t field, const std::string& message) {
    counters.AddPacket(field, wire::AsBytes(Sub(field, message)));
  };
  using Packet = proto::TracePacket;
  for (const uint64_t phase : {1, 2})
    add(Packet::kFtraceStats,
        Sub(2, Uint(1, 0) + Uint(3, 100 * phase) + Uint(8, 5 * phase)) + Uint(1, phase));
  for (const uint32_t cpu : {0, 1, 1}) add(Packet::kFtraceEvents, Uint(1, cpu) + Uint(3, 1));
  const StageCount lost = KernelLosses(counters);
  EXPECT_EQ(lost.count.packets, 105u);
  EXPECT_EQ(lost.places, 2u) << "CPU 1 has no counters";
}

}  // namespace
}  // namespace ringscope::testing
