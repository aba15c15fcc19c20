// Measurements, as far as they do not depend on the machine.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "commands/bench/bench_run.h"
#include "commands/bench/workloads.h"
#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Bench, MiddleAndSpread) {
  BenchResult result;
  for (const double ns : {100.0, 400.0, 200.0})
    result.rounds.push_back({.commit_ns = ns, .patch_ns = 10, .read_ns = 0});
  EXPECT_EQ(result.Median([](const BenchTimes& times) { return times.commit_ns; }), 200);
  EXPECT_DOUBLE_EQ(result.Spread(), 300.0 / 210.0);
  result.rounds.push_back({.commit_ns = 300});
  EXPECT_EQ(result.Median([](const BenchTimes& times) { return times.commit_ns; }), 250);
}

TEST(Bench, WorkOfAStream_IsCounted) {
  Workload workload{"small", {}};
  const std::string payload =
      "\x03"
      "abc";
  for (uint32_t i = 0; i < 3; ++i) {
    workload.stream.Add({.commit = {.sequence = {ProducerId{1}, WriterId{1}},
                                    .chunk = ChunkId{i},
                                    .fragments = 1,
                                    .payload = wire::AsBytes(payload)}});
  }
  workload.stream.Add({.kind = StreamStep::Kind::kRead, .max_packets = 2});
  const auto results =
      RunBench(workload, {FindEngine("v1").value(), FindEngine("v2").value()}, /*rounds=*/2);
  ASSERT_TRUE(results);
  ASSERT_EQ(results->size(), 2u);
  for (const BenchResult& result : *results) {
    EXPECT_EQ(result.work.commits, 3u);
    EXPECT_EQ(result.work.committed_bytes, 12u);
    EXPECT_EQ(result.work.reads, 1u);
    EXPECT_EQ(result.work.packets, 2u);
    EXPECT_EQ(result.work.packet_bytes, 6u);
    EXPECT_EQ(result.rounds.size(), 2u);
    EXPECT_GT(result.rounds[0].commit_ns, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // whose heap is another
    EXPECT_GE(result.heap_bytes, 4096u);
#endif
  }
}

TEST(Bench, StandardWorkloads_AreWhatTheyAreCalled) {
  for (const Workload& workload : StandardWorkloads()) {
    SCOPED_TRACE(workload.name);
    const auto engine = FindEngine("v2").value()->create({.size = workload.stream.size}).value();
    uint64_t packets = 0;
    for (const auto& step : workload.stream.steps) {
      step->With([&](const StreamStep& view) {
        if (view.kind == StreamStep::Kind::kCommit) engine->Commit(view.commit);
        if (view.kind == StreamStep::Kind::kPatch) engine->ApplyPatches(view.patches);
        if (view.kind != StreamStep::Kind::kRead) return;
        engine->BeginRead();
        while (engine->NextPacket() != nullptr) ++packets;
      });
    }
    const BufferStats& stats = engine->stats();
    EXPECT_EQ(stats.abi_violations + stats.patches_failed + stats.chunks_discarded, 0u);
    EXPECT_GE(stats.bytes_written, 2 * workload.stream.size);
    const bool reads = workload.name.find("read") != std::string::npos;
    EXPECT_EQ(packets > 0, reads);
    EXPECT_EQ(stats.patches_succeeded > 0, workload.name == "patch");
  }
}

TEST(BenchCommand, LogsAndCheck) {
  const std::string log = testing::CapturePath("short-v2");
  // The same engine twice takes the same time, give or take what a machine does: not a
  // thousandfold.
  const Ran same = RunCommand(BenchCommand(), {log, "--engines", "v2,v2", "--rounds", "3",
                                               "--check", "1000", "--format", "json"});
  EXPECT_EQ(same.error, "");
  EXPECT_EQ(same.code, ExitCode::kClean);
  EXPECT_EQ(CountOf(same.out, "\"ns_per_commit\""), 2 * CountOf(same.out, "\"workload\""));
  EXPECT_THAT(same.out, HasSubstr("\"slower\": []"));
  EXPECT_THAT(RunCommand(BenchCommand(), {log, "--engines", "v2,v3"}).error,
              HasSubstr("there is no engine 'v3'"));
  EXPECT_THAT(RunCommand(BenchCommand(), {log, "--check", "0.9"}).error,
              HasSubstr("expected a number from 1 to 1000"));
}

}  // namespace
}  // namespace ringscope
