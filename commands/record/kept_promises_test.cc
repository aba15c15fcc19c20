// The promises of 'advise' hold when the session is recorded again: real producers write through
// real sockets and shared memory, with other packets and at other times than before.
// RINGSCOPE_RECORDINGS sets how often.

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "commands/shell/commands.h"
#include "commands/testing/live_recording.h"
#include "commands/testing/memory_run.h"
#include "formats/descriptors/descriptors.h"
#include "formats/log/commit_log_writer.h"
#include "formats/testing/files.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/string_sink.h"

namespace ringscope::testing {
namespace {

constexpr int kPromisedProducers = 2;

/// The writes of each producer.
struct Workload {
  int rounds = 300;  // about 1 ms apart
  int packets = 20;  // of a round
  size_t memory =
      0;  // bytes of its shared memory, which loses packets when it is full; 0: it waits
};

struct PromiseCase {
  const char* name;
  const char* config;  // text; data sources "often" and "large"
  Workload load = {};
};
constexpr PromiseCase kPromiseCases[] = {
    {"RingV2", R"(buffers { size_kb: 64 experimental_mode: TRACE_BUFFER_V2 }
data_sources { config { name: "often" } }
data_sources { config { name: "large" } })"},
    {"RingV1", R"(buffers { size_kb: 64 fill_policy: RING_BUFFER }
data_sources { config { name: "often" } }
data_sources { config { name: "large" } })"},
    {"DiscardV2", R"(buffers { size_kb: 64 fill_policy: DISCARD experimental_mode: TRACE_BUFFER_V2 }
data_sources { config { name: "often" } }
data_sources { config { name: "large" } })"},
    {"TwoRings", R"(buffers { size_kb: 32 }
buffers { size_kb: 16 experimental_mode: TRACE_BUFFER_V2 }
data_sources { config { name: "often" } }
data_sources { config { name: "large" target_buffer: 1 } })"},
    {"StreamedByTheClock",
     R"(buffers { size_kb: 16 experimental_mode: TRACE_BUFFER_V2 }
data_sources { config { name: "often" } }
data_sources { config { name: "large" } }
write_into_file: true
file_write_period_ms: 200
write_flush_mode: WRITE_FLUSH_DISABLED)",
     {.rounds = 1000}},
    {"StreamedAfterFlushes",
     R"(buffers { size_kb: 16 }
data_sources { config { name: "often" } }
data_sources { config { name: "large" } }
write_into_file: true
file_write_period_ms: 250
write_flush_mode: WRITE_FLUSH_ENABLED)",
     {.rounds = 1000}}};

/// Writes some rounds of packets, and answers flushes.
/// @param done counts the producers that have written all
void WriteRounds(Producer* producer, const Workload& load, uint32_t seed, std::atomic<int>& done) {
  const std::vector<SharedMemoryWriter*> writers = WritersOf(*producer, 2);
  std::mt19937 random(seed);
  std::string packet;
  const auto handle = [&] {
    while (producer->Poll().value()) {
    }
    if (!producer->flushes().empty()) {
      ASSERT_TRUE(producer->AnswerFlushes());
    }
  };
  for (int round = 0; round < load.rounds; ++round) {
    for (int i = 0; i < load.packets; ++i) {
      packet.clear();
      wire::AppendUint(packet, 8, BootTimeNs());
      wire::AppendBytes(packet, 900, wire::AsBytes(std::string(random() % 100, 'x')));
      ASSERT_TRUE(writers[random() % 2]->Write(wire::AsBytes(packet)).has_value());
    }
    ASSERT_TRUE(producer->Commit());
    if (load.memory > 0) {
      ASSERT_TRUE(producer->Sync());  // so that the size of a round decides, and no machine's speed
    }
    handle();
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
  }
  for (SharedMemoryWriter* writer : writers) ASSERT_TRUE(writer->Finish());
  ASSERT_TRUE(producer->Commit());
  ASSERT_TRUE(producer->Sync());
  ++done;
  while (!producer->started().empty()) {
    ASSERT_TRUE(producer->Wait());
    handle();
  }
}

/// Records a session of the config. @return the log's path
std::string RecordSession(const std::string& config, const Workload& load, uint32_t seed,
                          const TempFolder& folder) {
  const std::string encoded = descriptors::Encode("TraceConfig", config, "config").value();
  const bool is_streamed = config.find("write_into_file") != std::string::npos;
  LiveRecording run;
  const UniqueFd file(
      ::open(folder.File("out.pftrace").c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600));
  Consumer consumer = Consumer::Connect(run.consumer_listen()).value();
  EXPECT_TRUE(consumer.EnableTracing(encoded, is_streamed ? &file : nullptr));
  std::vector<std::unique_ptr<Producer>> producers;
  std::vector<std::thread> threads;
  std::atomic<int> done = 0;
  for (uint32_t i = 0; i < kPromisedProducers; ++i)
    producers.push_back(
        Producer::Connect(run.listen(),
                          {.name = fmt::format("p{}", i),
                           .sources = {{.name = "often", .will_notify_on_stop = true},
                                       {.name = "large", .will_notify_on_stop = true}},
                           .own_memory = load.memory,
                           .batch_bytes = load.memory > 0 ? size_t{1} << 20 : size_t{16} << 10,
                           .drops_when_full = load.memory > 0})
            .value());
  for (uint32_t i = 0; i < kPromisedProducers; ++i)
    threads.emplace_back([&, producer = producers[i].get(), i] {
      WriteRounds(producer, load, seed * 10 + i, done);
    });
  EXPECT_TRUE(run.log().WaitFor<DataSourceStarted>(2 * kPromisedProducers));
  while (done < kPromisedProducers) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(consumer.DisableTracing());
  EXPECT_TRUE(consumer.WaitUntilDisabled());
  std::string trace;
  if (!is_streamed) {
    EXPECT_TRUE(consumer.ReadBuffers(trace));
  }
  EXPECT_TRUE(consumer.FreeBuffers());
  for (std::thread& thread : threads) thread.join();
  run.recorder().Stop();
  StringSink log;
  const auto writer = CommitLogWriter::Create(log).value();
  EXPECT_TRUE(writer->Append({.time_ns = {}, .body = ImportHeader()}));
  for (const Op& op : run.log().TimedOps()) EXPECT_TRUE(writer->Append(op));
  EXPECT_TRUE(writer->Close());
  return folder.Write(fmt::format("{}.tblog", seed), log.text);
}

/// Returns whether all packets are in the trace that a replay of the log makes.
bool NothingWasLost(const std::string& log) {
  const Ran gaps = RunCommand(GapsCommand(), {log, "--format", "json"});
  EXPECT_NE(gaps.code, ExitCode::kFailed) << gaps.error;
  return ParsedJson(gaps.out).at("sessions").at(0).at("nothing_lost");
}

class AdvisedBuffers : public ::testing::TestWithParam<PromiseCase> {};

TEST_P(AdvisedBuffers, LoseNothingWhenRecordedAgain) {
  for (uint32_t i = 0; i < Recordings() && !HasFailure(); ++i) {
    const TempFolder folder;
    const std::string log = RecordSession(GetParam().config, GetParam().load, 2 * i + 1, folder);
    const std::string config = folder.Write("config.pbtxt", GetParam().config);
    const std::string advised = folder.File("advised.pbtxt");
    ASSERT_FALSE(NothingWasLost(log));
    const Ran advice = RunCommand(AdviseCommand(), {log, "--config", config, "-o", advised});
    ASSERT_THAT(advice.out, ::testing::HasSubstr("replay with this config keeps everything"));
    const std::string again = RecordSession(ReadFile(advised), GetParam().load, 2 * i + 2, folder);
    EXPECT_TRUE(NothingWasLost(again)) << RunCommand(GapsCommand(), {again}).out << advice.out;
  }
}

/// Returns the bytes of shared memory that are advised, or 0.
size_t AdvisedMemory(const std::string& log) {
  const Json advice = ParsedJson(RunCommand(AdviseCommand(), {log, "--format", "json"}).out);
  size_t bytes = 0;
  for (const Json& remedy : advice.at("sessions").at(0).at("remedies"))
    if (remedy.at("kind") == "shared_memory")
      bytes = std::max(bytes, remedy.at("size").get<size_t>());
  return bytes;
}

// The size is an estimate, from what the writers wrote while no chunk was free.
TEST(KeptPromises, SharedMemoryOfTheAdvisedSize_DropsNothing) {
  const std::string config = R"(buffers { size_kb: 65536 }
data_sources { config { name: "often" } }
data_sources { config { name: "large" } })";
  for (uint32_t i = 0; i < Recordings() && !HasFailure(); ++i) {
    const TempFolder folder;
    Workload load{.rounds = 50, .packets = 800, .memory = 32 * 1024};
    const std::string log = RecordSession(config, load, 2 * i + 1, folder);
    ASSERT_FALSE(NothingWasLost(log));
    load.memory = AdvisedMemory(log);
    ASSERT_GT(load.memory, 0u);
    const std::string again = RecordSession(config, load, 2 * i + 2, folder);
    EXPECT_TRUE(NothingWasLost(again)) << RunCommand(GapsCommand(), {again}).out;
  }
}

INSTANTIATE_TEST_SUITE_P(KeptPromises, AdvisedBuffers, ::testing::ValuesIn(kPromiseCases),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace ringscope::testing
