// Several producers, concurrent sessions and their clones, all busy at the same time: the replay of
// the log must equal what each consumer received. RINGSCOPE_RECORDINGS sets how often.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>

#include "commands/testing/live_recording.h"

namespace ringscope::testing {
namespace {

constexpr int kBusyProducers = 4;
constexpr int kSessions = 3;
constexpr int kClonesOfASession = 7;

std::string SessionName(int session) { return fmt::format("session {}", session); }

/// Buffers of both kinds and policies, which data sources of the same names write to in all
/// sessions; "rare" is one that only the last producer has.
std::string ConfigOf(int session) {
  ipc::TraceConfig config;
  config.buffers = {
      {.size_kb = 64, .experimental_mode = 1},
      {.size_kb = 32u << session, .experimental_mode = session % 2u, .transfer_on_clone = true},
      {.size_kb = 128,
       .fill_policy = ipc::kFillPolicyDiscard,
       .experimental_mode = 1,
       .clear_before_clone = session == 1},
      {.size_kb = 16, .experimental_mode = 1}};
  config.data_sources = {{{.name = "often", .target_buffer = 0}},
                         {{.name = "often", .target_buffer = 1}},
                         {{.name = "silent", .target_buffer = 2}},
                         {{.name = "rare", .target_buffer = 3}}};
  config.unique_session_name = SessionName(session);
  return Encode(config);
}

/// How many producers have nothing more for a session, whose number the service counts from 1.
class Quiet {
 public:
  void Add(uint64_t session) {
    const std::lock_guard lock(mutex_);
    ++quiet_[session];
    changed_.notify_all();
  }
  void WaitForAll(uint64_t session) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return quiet_[session] == kBusyProducers; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, int> quiet_;
};

std::unique_ptr<Producer> ConnectProducer(const std::string& socket, int number) {
  ProducerOptions options{.name = fmt::format("p{}", number)};
  options.sources = {{.name = "often", .will_notify_on_stop = true},
                     {.name = "silent", .no_flush = true, .will_notify_on_stop = true}};
  if (number == kBusyProducers - 1)
    options.sources.push_back({.name = "rare", .will_notify_on_stop = true});
  auto producer = Producer::Connect(socket, options).value();
  EXPECT_TRUE(
      producer->WaitForSources(static_cast<size_t>(kSessions) * (1 + options.sources.size())));
  return producer;
}

/// Writes to all data sources as fast as it can until they have stopped.
void Produce(Producer* producer, uint32_t seed, Quiet& quiet) {
  std::multimap<uint64_t, SharedMemoryWriter*> writers;  // by session
  for (const StartedSource& source : producer->started())
    writers.emplace(source.session, producer->AddWriter(source.buffer).value());
  std::mt19937 random(seed);
  std::string packet;
  while (!writers.empty()) {
    packet.clear();
    wire::AppendUint(packet, 8, random());
    wire::AppendBytes(
        packet, 900,
        wire::AsBytes(std::string(random() % 16 == 0 ? random() % 9000 : random() % 200, 'x')));
    ASSERT_TRUE(std::next(writers.begin(), static_cast<int>(random() % writers.size()))
                    ->second->Write(wire::AsBytes(packet)));
    while (producer->Poll().value()) {
    }
    if (!producer->flushes().empty()) {  // if not all chunks are completed, a scrape finds them
      ASSERT_TRUE(random() % 2 == 0 ? producer->AnswerFlushes() : producer->AcknowledgeFlushes());
    }
    for (uint64_t session = 1; session <= kSessions; ++session) {
      if (!writers.contains(session) ||
          std::ranges::any_of(producer->started(), [&](const StartedSource& source) {
            return source.session == session;
          }))
        continue;
      for (auto [next, end] = writers.equal_range(session); next != end; ++next)
        ASSERT_TRUE(producer->RemoveWriter(next->second));
      writers.erase(session);
      ASSERT_TRUE(producer->Commit());
      ASSERT_TRUE(producer->Sync());
      quiet.Add(session);
    }
  }
}

/// What the consumers of a session, and of its clones, received.
struct SessionResults {
  TraceContent session;
  std::vector<TraceContent> clones;
};

TraceContent ContentFrom(Consumer& consumer, const std::string& trace) {
  return ContentOfTrace(trace, consumer.GetTraceStats().value()).value();
}

/// Reads, flushes and clones a session while it is written to, and ends it.
SessionResults Consume(const std::string& socket, int session, Consumer& consumer, Quiet& quiet) {
  SessionResults results;
  std::string trace;
  for (int i = 0; i < kClonesOfASession; ++i) {
    auto cloner = Consumer::Connect(socket).value();
    const uint64_t clone = cloner.StartClone(SessionName(session)).value();
    EXPECT_TRUE(cloner.WaitForClone(clone));
    std::string cloned;
    EXPECT_TRUE(cloner.ReadBuffers(cloned));
    results.clones.push_back(ContentFrom(cloner, cloned));
    if (i % 3 == session) {
      EXPECT_TRUE(consumer.ReadBuffers(trace));
    }
    if (i % 3 == 0) {
      EXPECT_TRUE(consumer.WaitFor(consumer.StartFlush().value()).value());
    }
  }
  EXPECT_TRUE(consumer.DisableTracing());
  EXPECT_TRUE(consumer.WaitUntilDisabled());
  quiet.WaitForAll(static_cast<uint64_t>(session) + 1);
  EXPECT_TRUE(consumer.ReadBuffers(trace));
  results.session = ContentFrom(consumer, trace);
  EXPECT_TRUE(consumer.FreeBuffers());
  return results;
}

void RunOnce(uint32_t seed) {
  LiveRecording run;
  std::vector<Consumer> consumers;
  for (int i = 0; i < kSessions; ++i) {
    consumers.push_back(Consumer::Connect(run.consumer_listen()).value());
    ASSERT_TRUE(consumers.back().EnableTracing(ConfigOf(i)));
  }
  std::vector<SessionResults> results(kSessions);
  Quiet quiet;
  std::vector<std::thread> threads;
  // One after the other: this service numbers producers when they connect, and V1 buffers are read
  // in the order of these numbers; the log has that of InitializeConnection.
  std::vector<std::unique_ptr<Producer>> producers;
  for (int i = 0; i < kBusyProducers; ++i) producers.push_back(ConnectProducer(run.listen(), i));
  for (int i = 0; i < kBusyProducers; ++i) {
    threads.emplace_back([&, i] {
      Produce(producers[static_cast<size_t>(i)].get(), seed * 100 + static_cast<uint32_t>(i),
              quiet);
    });
  }
  // All data sources of all sessions are there before the first session ends.
  ASSERT_TRUE(run.log().WaitFor<DataSourceStarted>(kSessions * (kBusyProducers * 3 + 1)));
  for (int i = 0; i < kSessions; ++i) {
    threads.emplace_back([&, i] {
      const auto index = static_cast<size_t>(i);
      results[index] = Consume(run.consumer_listen(), i, consumers[index], quiet);
    });
  }
  for (std::thread& thread : threads) thread.join();

  std::map<uint64_t, TraceContent> sessions;
  std::map<uint64_t, TraceContent> clones;
  std::map<uint64_t, size_t> numbers;  // of the sessions in the log
  for (const SessionStarted& started : run.log().All<SessionStarted>())
    for (int i = 0; i < kSessions; ++i)
      if (started.name == SessionName(i)) numbers[started.session] = static_cast<size_t>(i);
  for (const auto& [number, index] : numbers) sessions[number] = results[index].session;
  std::vector<size_t> next(kSessions);
  for (const CloneRequested& clone : run.log().All<CloneRequested>()) {
    ASSERT_TRUE(clone.session);
    const size_t index = numbers.at(*clone.session);
    clones[clone.clone] = results[index].clones.at(next[index]++);
  }
  EXPECT_EQ(sessions.size(), size_t{kSessions});
  EXPECT_EQ(clones.size(), size_t{kSessions * kClonesOfASession});
  for (const Inexact& mark : run.log().All<Inexact>())
    if (mark.reason != InexactReason::kHeld) ADD_FAILURE() << mark.detail;  // the log is exact
  run.ExpectSessions(sessions);
  run.ExpectClones(clones);
}

TEST(ConcurrentSessions, ReplayEqualsWhatEachConsumerReceived) {
  const uint32_t recordings = Recordings(/*otherwise=*/2);
  for (uint32_t i = 0; i < recordings && !HasFailure(); ++i) {
    SCOPED_TRACE(fmt::format("recording {} of {}", i + 1, recordings));
    RunOnce(i + 1);
  }
}

}  // namespace
}  // namespace ringscope::testing
