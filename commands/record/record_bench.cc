// What the recorder costs: the same traffic of 8 producers straight to the service, through the
// proxy alone, and recorded into a file. The service takes every chunk out of shared memory and
// copies it once, as the real one does.

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <thread>

#include "commands/testing/fake_producer.h"
#include "commands/testing/fake_service.h"
#include "commands/testing/file_recording.h"
#include "commands/testing/recorded_bodies.h"

namespace ringscope {
namespace {

using testing::FakeProducer;
using testing::FakeService;
using testing::TestMemory;

constexpr int kProducers = 8;
constexpr BufferId kBuffer{1};

struct Way {
  const char* name;
  int level = kDefaultLevel;
  bool looks = false;
};
constexpr Way kWays[] = {{"direct"},
                         {"proxy without tap"},
                         {"recorded, level -200", -200},
                         {"recorded, default level"},
                         {"recorded with looks, level -200", -200, true},
                         {"recorded with looks, default level", kDefaultLevel, true}};
constexpr int64_t kDirect = 0, kProxy = 1, kStrict = 2, kStrictDefault = 3, kLooksDefault = 5;

/// Passes everything on, unread.
class NoTap : public Tap {
 public:
  using Tap::Tap;
  Result<bool> Prepare(const ipc::Frame*, FrameSocket&) override { return false; }
  Status FromClient(PassingFrame&& frame, FrameSocket& service) override {
    service.Queue(std::move(frame));
    return {};
  }
  Status FromService(PassingFrame&& frame, FrameSocket& client) override {
    client.Queue(std::move(frame));
    return {};
  }
  OrderedBuffers BuffersOf(const ipc::Frame*) const override { return {}; }
  std::string Describe() const override { return "a client"; }

 private:
  void OnDisconnect(FrameSocket*) override {}
  Status OnRequest(ipc::MethodName, const ipc::InvokeMethod&, PassingFrame&&,
                   FrameSocket&) override {
    return {};
  }
  Status OnReply(ipc::MethodName, uint64_t, const ipc::InvokeMethodReply&, PassingFrame&) override {
    return {};
  }
  std::pair<ipc::MethodName, std::string> NextConfirmation() override { return {}; }
};

/// Forwards everything, and does nothing else.
class Proxy {
 public:
  Proxy(const std::string& socket, const std::string& service)
      : service_(service), listener_(Listener::Create(socket, 0600).value()) {
    watch_ = loop_->Watch(listener_.fd(), EPOLLIN, [this](uint32_t) { Join(); }).value();
    thread_ = std::thread([this] { loop_->RunUntil([this] { return stop_.load(); }); });
  }
  ~Proxy() {
    stop_ = true;
    wake_();
    thread_.join();
  }

 private:
  void Join() {
    for (UniqueFd fd = listener_.Accept(); fd.valid(); fd = listener_.Accept()) {
      recording_.turns.Add(
          ConnectionPair::Create(recording_, std::move(fd), Connect(service_).value(),
                                 std::make_unique<NoTap>(recording_, PeerIdentity{}))
              .value());
    }
  }

  const std::string service_;
  const Listener listener_;
  const std::unique_ptr<EventLoop> loop_ = EventLoop::Create().value();
  const testing::LoopWake wake_{*loop_};
  EventLoop::WatchHandle watch_;
  testing::RecordedBodies no_log_;
  RecordingState recording_{*loop_, no_log_, [](const std::string&, int32_t) {}};
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

/// The way from producers to the service.
class Between {
 public:
  Between(int64_t way, const std::string& service)
      : socket_(way == kDirect ? service : testing::UniqueSocketName("bench")) {
    if (way == kProxy) proxy_.emplace(socket_, service);
    if (way <= kProxy) return;
    recording_.emplace(RecorderOptions{.producer = {socket_, service},
                                       .looks = kWays[way].looks,
                                       .buffers = {{.id = kBuffer, .size = 1}}},
                       kWays[way].level);
  }

  const std::string& socket() const { return socket_; }
  /// Ends it, the log included. @return the records that the log dropped
  uint64_t Finish() {
    proxy_.reset();
    return recording_ ? recording_->Finish().dropped_records : 0;
  }

 private:
  const std::string socket_;
  std::optional<Proxy> proxy_;
  std::optional<testing::FileRecording> recording_;
};

/// A payload like those of track events: small numbers, some growing, some repeated.
std::string MakePayload(uint32_t seed) {
  std::mt19937 random(seed);
  std::string payload;
  uint64_t time = 1'000'000;
  while (payload.size() < TestMemory::kChunkBytes - 64) {
    std::string event;
    wire::AppendUint(event, 8, time += random() % 5000);
    wire::AppendUint(event, 10, random() % 64);
    wire::AppendUint(event, 9, 1 + random() % 3);
    wire::AppendUint(event, 11, random() % 1000);
    wire::AppendBytes(payload, 1, wire::AsBytes(event));
  }
  return payload;
}

/// Sends so many chunks, one with each request.
void SendChunks(FakeProducer& producer, int chunks, std::vector<std::string>& payloads) {
  static std::atomic<uint32_t> last_id = 0;
  uint32_t id = last_id.fetch_add(static_cast<uint32_t>(chunks));
  for (; chunks > 0; --chunks) {
    const auto page = producer.FreePage();
    if (!page) return;
    std::string& payload = payloads[id % payloads.size()];
    const uint64_t now = ClockNs(CLOCK_MONOTONIC);
    std::memcpy(payload.data(), &now, sizeof(now));
    producer.Write({.page = *page,
                    .writer = WriterId{1},
                    .id = ChunkId{id++},
                    .fragments = 100,
                    .payload = payload});
    std::string request;
    FakeProducer::AddChunk(request, *page, kBuffer);
    producer.Commit(request);
  }
}

std::vector<std::string> MakePayloads() {
  std::vector<std::string> payloads;
  for (uint32_t i = 0; i < 64; ++i) payloads.push_back(MakePayload(i));
  return payloads;
}

using Produce = std::function<void(FakeProducer&, std::vector<std::string>& payloads)>;

/// Runs a producer in each of so many threads. @return seconds from when all are connected
double RunProducers(const std::string& socket, const Produce& produce, int count = kProducers) {
  std::vector<std::unique_ptr<FakeProducer>> producers;
  for (int i = 0; i < count; ++i) {
    producers.push_back(std::make_unique<FakeProducer>(socket, fmt::format("p{}", i)));
    producers.back()->Connect();
    producers.back()->RegisterWriter(WriterId{1}, kBuffer);
    producers.back()->Sync();
  }
  std::vector<std::vector<std::string>> payloads(producers.size(), MakePayloads());
  std::vector<std::thread> threads;
  const uint64_t start = ClockNs(CLOCK_MONOTONIC);
  for (size_t i = 0; i < producers.size(); ++i)
    threads.emplace_back([&, i] { produce(*producers[i], payloads[i]); });
  for (std::thread& thread : threads) thread.join();
  return static_cast<double>(ClockNs(CLOCK_MONOTONIC) - start) / 1e9;
}

/// A service that takes each chunk out of shared memory, and hands it on.
testing::FakeServiceOptions Taking(std::function<void(Bytes)> on_chunk) {
  constexpr size_t kPages = 256;
  return {.tracing = {.memory = testing::MemorySizes{kPages * TestMemory::kPage, TestMemory::kPage},
                      .traces_all = true,
                      .on_chunk = std::move(on_chunk)}};
}

/// Chunks as fast as they go, one with each request; until the last is in the log.
void BM_RecordSustained(benchmark::State& state) {
  constexpr int kChunks = 32000;  // several times what the queue can hold
  const int64_t way = state.range(0);
  std::vector<uint8_t> ring(size_t{16} << 20);
  uint64_t dropped = 0;
  const uint64_t cpu = ClockNs(CLOCK_PROCESS_CPUTIME_ID);
  for (auto _ : state) {
    FakeService service(Taking([&ring, at = size_t{0}](Bytes chunk) mutable {
      if (at + chunk.size() > ring.size()) at = 0;
      std::memcpy(ring.data() + at, chunk.data(), chunk.size());
      at += chunk.size();
    }));
    Between between(way, service.producer_socket());
    const double seconds =
        RunProducers(between.socket(), [&](FakeProducer& producer, auto& payloads) {
          SendChunks(producer, kChunks, payloads);
          producer.Sync();
        });
    const uint64_t all_sent = ClockNs(CLOCK_MONOTONIC);
    dropped += between.Finish();
    state.SetIterationTime(seconds +
                           static_cast<double>(ClockNs(CLOCK_MONOTONIC) - all_sent) / 1e9);
  }
  // Producers do not wait for the log: what it had to drop, as they sent more than it can take,
  // counts for nothing.
  const int64_t chunks = state.iterations() * kProducers * kChunks;
  state.SetBytesProcessed((chunks - static_cast<int64_t>(dropped)) *
                          static_cast<int64_t>(TestMemory::kChunkBytes));
  state.counters["dropped_%"] = 100.0 * static_cast<double>(dropped) / static_cast<double>(chunks);
  // Of all that take part, producers and service too: on a busy machine it is more meaningful than
  // the rate.
  state.counters["cpu_us_per_chunk"] =
      static_cast<double>(ClockNs(CLOCK_PROCESS_CPUTIME_ID) - cpu) / 1e3 /
      static_cast<double>(chunks);
  state.SetLabel(kWays[way].name);
}
BENCHMARK(BM_RecordSustained)
    ->ArgName("way")
    ->DenseRange(kDirect, kLooksDefault)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

/// Time since the producer sent the chunk.
double DelayUs(Bytes chunk) {
  uint64_t sent = 0;
  std::memcpy(&sent, chunk.data() + kChunkHeaderSize, sizeof(sent));
  return static_cast<double>(ClockNs(CLOCK_MONOTONIC) - sent) / 1e3;
}

/// Sends chunks at a rate, one with each request, and measures the delay of each from the
/// producer's send to the service's receive.
void RunDelays(benchmark::State& state, int producers, int chunks_per_second, bool wait) {
  constexpr int kSeconds = 2;
  const int64_t way = state.range(0);
  std::vector<double> us;
  us.reserve(static_cast<size_t>(chunks_per_second * kSeconds + producers));
  for (auto _ : state) {
    FakeService service(Taking([&us](Bytes chunk) { us.push_back(DelayUs(chunk)); }));
    Between between(way, service.producer_socket());
    const auto produce = [&](FakeProducer& producer, std::vector<std::string>& payloads) {
      const std::chrono::nanoseconds pause{uint64_t{1'000'000'000} *
                                           static_cast<uint64_t>(producers) /
                                           static_cast<uint64_t>(chunks_per_second)};
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < chunks_per_second * kSeconds / producers; ++i) {
        SendChunks(producer, 1, payloads);
        if (wait) producer.Sync();
        const auto now = std::chrono::steady_clock::now();
        std::this_thread::sleep_until(wait ? now + pause : start + (i + 1) * pause);
      }
      producer.Sync();
    };
    state.SetIterationTime(RunProducers(between.socket(), produce, producers));
  }
  // In the first half second the memory of all is mapped.
  std::vector<double> late_us(us.begin() + static_cast<ptrdiff_t>(us.size() / (2 * kSeconds)),
                              us.end());
  std::sort(us.begin(), us.end());
  std::sort(late_us.begin(), late_us.end());
  state.counters["p50_us"] = us[us.size() / 2];
  state.counters["p99_us"] = us[us.size() * 99 / 100];
  state.counters["late_p99_us"] = late_us[late_us.size() * 99 / 100];
  state.counters["max_us"] = us.back();
  state.SetLabel(kWays[way].name);
}

/// Each producer 500 times a second, and waits until the service has handled the chunk.
void BM_RecordLatency(benchmark::State& state) {
  RunDelays(state, kProducers, kProducers * 500, /*wait=*/true);
}
BENCHMARK(BM_RecordLatency)
    ->ArgName("way")
    ->DenseRange(kDirect, kStrict)
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

/// 25,000 chunks a second in all, of some producers. The delay above that of the bare proxy is the
/// recorder's own.
void BM_RecordDelay(benchmark::State& state) {
  RunDelays(state, static_cast<int>(state.range(1)), 25'000, /*wait=*/false);
}
BENCHMARK(BM_RecordDelay)
    ->ArgNames({"way", "producers"})
    ->ArgsProduct({{kDirect, kProxy, kStrict, kStrictDefault}, {1, 2, 4, 8}})
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ringscope
