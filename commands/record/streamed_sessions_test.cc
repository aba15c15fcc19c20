// Sessions that the service writes into a file, and clones of them, while producers are busy: the
// recorder logs the reads that it sees in the file, and the replay must equal the file in all
// packets and counters wherever the log is not marked. RINGSCOPE_RECORDINGS sets how often.

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
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
  int clones = 0;        // that are made meanwhile
};
constexpr StreamedCase kStreamedCases[] = {{"ByTheClock", 100, 2},
                                           {"AfterFlushes", 200, 3},
                                           {"ScrapedEachSecond", 100, 2, true},
                                           {"Cloned", 100, 2, false, 2}};

std::string StreamedConfig(const StreamedCase& streamed) {
  ipc::TraceConfig config;
  config.buffers = {{.size_kb = 64, .experimental_mode = 1}, {.size_kb = 256}};
  config.data_sources = {{{.name = "often", .target_buffer = 0}},
                         {{.name = "large", .target_buffer = 1}}};
  config.unique_session_name = "streamed";
  std::string encoded = Encode(config);
  wire::AppendUint(encoded, 8, 1);  // write_into_file
  wire::AppendUint(encoded, 9, streamed.period_ms);
  wire::AppendUint(encoded, 44, streamed.flush_mode);
  return encoded;
}

/// Writes until its data sources are stopped. What it has written then is committed.
void Stream(Producer* producer, uint32_t seed, const std::atomic<bool>& freed) {
  const std::vector<SharedMemoryWriter*> writers = WritersOf(*producer, 2);
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

UniqueFd NewFileAt(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
}

/// Waits some time, and clones the session into a file of its own.
void MakeClone(LiveRecording& run, const std::string& path, std::mt19937& random) {
  std::this_thread::sleep_for(std::chrono::milliseconds(100 + random() % 300));
  const UniqueFd file = NewFileAt(path);
  Consumer holder = Consumer::Connect(run.consumer_listen()).value();
  const uint64_t request = holder.StartClone("streamed", &file).value();
  EXPECT_TRUE(holder.WaitForClone(request));
}

/// Returns where the first packet that differs is in the other content.
std::string PlacesOf(const TraceContent& written, const TraceContent& replayed) {
  const auto place = [](const TraceContent& in, const ContentPacket& packet) {
    const auto found = std::ranges::find(in.packets, packet.bytes, &ContentPacket::bytes);
    return found == in.packets.end() ? std::string("nowhere")
                                     : std::to_string(found - in.packets.begin());
  };
  const size_t both = std::min(written.packets.size(), replayed.packets.size());
  for (size_t i = 0; i < both; ++i)
    if (written.packets[i].bytes != replayed.packets[i].bytes)
      return fmt::format(
          "of {} and {}: packet {} of sequence {} is at {} of the replay, its is at {}",
          written.packets.size(), replayed.packets.size(), i, written.packets[i].sequence_id,
          place(replayed, written.packets[i]), place(written, replayed.packets[i]));
  return {};
}

/// Compares a file with what a replay of the log gives. @return whether they are equal
bool IsEqual(const std::string& path, const TraceContent& replayed, bool is_exact) {
  const TraceContent written = ReadTraceContent(OpenByteSource(path).value()).value();
  EXPECT_GT(written.packets.size(), 100u);
  const std::string difference = TraceDifference(written, replayed);
  if (is_exact) {
    EXPECT_EQ(difference, "") << PlacesOf(written, replayed);
  }
  return difference.empty();
}

/// Expects that the log has the service's order of all commits, patches and reads, also where no
/// packet depends on it. Acknowledgements and disconnections have no effect on buffers: one that
/// passes while the service reads can be logged on either side of the read.
void ExpectOrder(LiveRecording& run) {
  std::vector<std::string> handled = run.service()->effects(), logged = EffectsOf(run.log().ops());
  for (auto* const effects : {&handled, &logged})
    std::erase_if(*effects, [](const auto& effect) {
      return effect.ends_with(": disconnect") || effect.find(": acknowledged ") != effect.npos;
    });
  const auto [one, other] = std::ranges::mismatch(handled, logged);
  EXPECT_TRUE(one == handled.end() && other == logged.end())
      << "effect " << one - handled.begin() << " is " << (one == handled.end() ? "none" : *one)
      << ", in the log " << (other == logged.end() ? "none" : *other);
}

struct StreamedCounts {
  int sessions = 0;
  int clones = 0;
  int exact = 0;  // logs without a mark
  int equal = 0;  // files, those of clones included
};

void RecordStreamed(const StreamedCase& streamed, uint32_t seed, StreamedCounts& counts) {
  LiveRecording run({.longest_wait = LiveRecording::kLongWait}, {.keeps_journal = true});
  const TempFolder folder;
  const std::string path = folder.File("out.pftrace");
  const UniqueFd file = NewFileAt(path);
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
  const auto end = std::chrono::steady_clock::now() + kStreamedFor;
  std::mt19937 random(seed);
  for (int i = 1; i <= streamed.clones; ++i)
    MakeClone(run, folder.File(fmt::format("clone{}.pftrace", i)), random);
  std::this_thread::sleep_until(end);
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
  bool is_exact = true;
  for (const Inexact& mark : marks) {
    fmt::print("marked: {}\n", mark.detail);
    // A producer that was held may have lost packets; the order is right.
    is_exact &= mark.reason == InexactReason::kHeld;
    EXPECT_TRUE(mark.reason == InexactReason::kReads || mark.reason == InexactReason::kOrder ||
                mark.reason == InexactReason::kHeld ||
                (streamed.clones > 0 && mark.reason == InexactReason::kClone));
  }
  if (is_exact && run.service() != nullptr) ExpectOrder(run);
  ++counts.sessions;
  counts.exact += is_exact ? 1 : 0;
  counts.equal += IsEqual(path, ContentOfSessions(run.opener()).value().at(1), is_exact) ? 1 : 0;
  const auto clones = ContentOfClones(run.opener()).value();
  for (const auto& [clone, content] : clones) {
    ++counts.clones;
    const std::string file_name = folder.File(fmt::format("clone{}.pftrace", clone));
    counts.equal += IsEqual(file_name, content, is_exact) ? 1 : 0;
  }
}

class StreamedSessions : public ::testing::TestWithParam<StreamedCase> {};

TEST_P(StreamedSessions, ReplayEqualsTheFile) {
  StreamedCounts counts;
  for (uint32_t i = 0; i < Recordings() && !HasFailure(); ++i)
    RecordStreamed(GetParam(), i + 1, counts);
  EXPECT_EQ(counts.clones, counts.sessions * GetParam().clones);
  fmt::print("{} sessions with {} clones: {} logs without marks, {} files equal\n", counts.sessions,
             counts.clones, counts.exact, counts.equal);
}

INSTANTIATE_TEST_SUITE_P(All, StreamedSessions, ::testing::ValuesIn(kStreamedCases),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace ringscope::testing
