// Sessions that the service writes into a file while producers are busy: the recorder logs the
// reads that it sees in the file, and the replay must equal the file wherever the log is not
// marked. RINGSCOPE_RECORDINGS sets how often.

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>

#include "commands/testing/live_recording.h"
#include "commands/testing/memory_run.h"

namespace ringscope::testing {
namespace {

constexpr int kStreamingProducers = 3;
constexpr std::chrono::milliseconds kStreamedFor{1200};

struct StreamedCase {
  const char* name;
  uint64_t period_ms;
  uint64_t flush_mode;   // write_flush_mode
  bool scrapes = false;  // producers are asked for no flush: they are scraped each second
};
constexpr StreamedCase kStreamedCases[] = {
    {"ByTheClock", 100, 2}, {"AfterFlushes", 200, 3}, {"ScrapedEachSecond", 100, 2, true}};

std::string StreamedConfig(const StreamedCase& streamed) {
  ipc::TraceConfig config;
  config.buffers = {{.size_kb = 64, .experimental_mode = 1}, {.size_kb = 256}};
  config.data_sources = {{{.name = "often", .target_buffer = 0}},
                         {{.name = "large", .target_buffer = 1}}};
  std::string encoded = Encode(config);
  wire::AppendUint(encoded, 8, 1);  // write_into_file
  wire::AppendUint(encoded, 9, streamed.period_ms);
  wire::AppendUint(encoded, 44, streamed.flush_mode);
  return encoded;
}

/// Writes until its data sources are stopped. What it has written then is committed.
void Stream(Producer* producer, uint32_t seed, const std::atomic<bool>& freed) {
  ASSERT_TRUE(producer->WaitForSources(2));
  std::vector<SharedMemoryWriter*> writers;
  for (const StartedSource& source : producer->started())
    writers.push_back(producer->AddWriter(source.buffer).value());
  std::mt19937 random(seed);
  std::string packet;
  while (!producer->started().empty()) {
    for (int i = 0; i < 20; ++i) {
      packet.clear();
      wire::AppendUint(packet, 8, random());
      wire::AppendBytes(packet, 900, wire::AsBytes(std::string(random() % 400, 'x')));
      ASSERT_TRUE(writers[random() % 2]->Write(wire::AsBytes(packet)));
    }
    ASSERT_TRUE(producer->Commit());
    if (!producer->flushes().empty()) {
      ASSERT_TRUE(producer->AnswerFlushes());
    }
    while (producer->Poll().value()) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
  }
  while (!freed) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// @return whether the log is exact
bool RecordStreamed(const StreamedCase& streamed, uint32_t seed) {
  LiveRecording run;
  const TempFolder folder;
  const std::string path = folder.File("out.pftrace");
  const UniqueFd file(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  Consumer consumer = Consumer::Connect(run.consumer_listen()).value();
  EXPECT_TRUE(consumer.EnableTracing(StreamedConfig(streamed), &file));
  std::atomic<bool> freed = false;
  // One after the other: the service of the tests numbers producers as it accepts them.
  std::vector<std::unique_ptr<Producer>> producers;
  for (int i = 0; i < kStreamingProducers; ++i)
    producers.push_back(
        Producer::Connect(
            run.listen(),
            {.name = fmt::format("p{}", i),
             .sources =
                 {{.name = "often", .no_flush = streamed.scrapes, .will_notify_on_stop = true},
                  {.name = "large", .no_flush = streamed.scrapes, .will_notify_on_stop = true}}})
            .value());
  std::vector<std::thread> threads;
  for (int i = 0; i < kStreamingProducers; ++i)
    threads.emplace_back([&, i] {
      Stream(producers[static_cast<size_t>(i)].get(), seed * 10 + static_cast<uint32_t>(i), freed);
    });
  EXPECT_TRUE(run.log().WaitFor<DataSourceStarted>(2 * kStreamingProducers));
  std::this_thread::sleep_for(kStreamedFor);
  EXPECT_TRUE(consumer.DisableTracing());
  EXPECT_TRUE(consumer.WaitUntilDisabled());
  EXPECT_TRUE(consumer.FreeBuffers());
  freed = true;
  for (std::thread& thread : threads) thread.join();
  run.recorder().Stop();

  uint64_t reads = 0;
  for (const ReadPass& read : run.log().All<ReadPass>()) {
    EXPECT_EQ(read.reason, ReadReason::kFile);
    EXPECT_EQ(read.session, 1u);
    ++reads;
  }
  EXPECT_GE(reads, 3u);
  const std::vector<Inexact> marks = run.log().All<Inexact>();
  for (const Inexact& mark : marks)
    EXPECT_TRUE(mark.reason == InexactReason::kReads || mark.reason == InexactReason::kOrder);
  const TraceContent written = ReadTraceContent(OpenByteSource(path).value()).value();
  EXPECT_GT(written.packets.size(), 1000u);
  const TraceContent replayed = ContentOfSessions(run.opener()).value().at(1);
  const std::string difference = TraceDifference(written, replayed);
  if (marks.empty()) {
    EXPECT_EQ(difference, "");
  }
  fmt::print("{} packets, {} reads, {} marked, {}\n", written.packets.size(), reads, marks.size(),
             difference.empty() ? "equal" : difference);
  return marks.empty();
}

class StreamedSessions : public ::testing::TestWithParam<StreamedCase> {};

TEST_P(StreamedSessions, ReplayEqualsTheFile) {
  const char* const chosen = std::getenv("RINGSCOPE_RECORDINGS");
  const int recordings = chosen == nullptr ? 1 : std::atoi(chosen);
  int exact = 0;
  for (int i = 0; i < recordings && !HasFailure(); ++i)
    exact += RecordStreamed(GetParam(), static_cast<uint32_t>(i) + 1) ? 1 : 0;
  fmt::print("{} of {} recordings are exact\n", exact, recordings);
}

INSTANTIATE_TEST_SUITE_P(All, StreamedSessions, ::testing::ValuesIn(kStreamedCases),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace ringscope::testing
