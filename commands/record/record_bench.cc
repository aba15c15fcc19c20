// What the recorder costs: the same traffic of 8 producers straight to the service, through the
// proxy alone, and recorded into a file. The service takes every chunk out of shared memory and
// copies it once, as the real one does.

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>
#include <thread>

#include "commands/record/log_queue.h"
#include "commands/record/recorder.h"
#include "commands/testing/fake_producer.h"
#include "commands/testing/fake_service.h"
#include "commands/testing/recorded_bodies.h"

namespace ringscope {
namespace {

using testing::FakeProducer;
using testing::FakeService;
using testing::TestMemory;

constexpr int kProducers = 8;
constexpr BufferId kBuffer{1};
constexpr int kPagesOfBurst = (64 << 20) / TestMemory::kPage / kProducers;

enum Way : int64_t {
  kDirect,
  kProxy,
  kStrict,
  kStrictDefault,
  kLooks,
  kLooksDefault,
};
const char* const kWayNames[] = {"direct",
                                 "proxy without tap",
                                 "recorded, level -200",
                                 "recorded, default level",
                                 "recorded with looks, level -200",
                                 "recorded with looks, default level"};
int LevelOf(Way way) {
  return way == kStrictDefault || way == kLooksDefault ? kDefaultLevel : -200;
}
bool HasLooks(Way way) { return way == kLooks || way == kLooksDefault; }

uint64_t NowNs(clockid_t clock = CLOCK_MONOTONIC) {
  timespec now = {};
  ::clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

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
  ipc::MethodName ConfirmingMethod() const override { return ipc::MethodName::kSync; }
};

/// What is between producers and service.
class Between {
 public:
  Between(Way way, const std::string& service) : loop_(EventLoop::Create().value()), wake_(*loop_) {
    socket_ = way == kDirect ? service : testing::UniqueSocketName("bench");
    if (way == kProxy) {
      listener_.emplace(Listener::Create(socket_, 0600).value());
      watch_ = loop_->Watch(listener_->fd(), EPOLLIN, [this, service](uint32_t) { Join(service); })
                   .value();
    } else if (way != kDirect) {
      path_ = std::filesystem::temp_directory_path() / (socket_.substr(1) + ".tblog");
      LogFilesOptions files;
      files.path = path_;
      files.level = LevelOf(way);
      files.header.uuid = RandomUuid();
      log_ = LogQueue::Create(LogFiles::Create(std::move(files)).value(), {}).value();
      RecorderOptions options{.producer = {socket_, service},
                              .buffers = {{.id = kBuffer, .size = 1}}};
      if (HasLooks(way)) options.looks = true;
      recorder_ = Recorder::Create(
                      *loop_, options, Recorder::Listen(options).value(), *log_,
                      [](const std::string& text, int32_t) { fmt::print(stderr, "{}\n", text); })
                      .value();
    }
    if (way != kDirect) {
      thread_ = std::thread([this] { loop_->RunUntil([this] { return stop_.load(); }); });
    }
  }
  ~Between() {
    Finish();
    if (!path_.empty()) std::filesystem::remove(path_);
  }

  /// Ends it, the log included. @return the log's gaps, and what was dropped there
  LogQueue::State Finish() {
    stop_ = true;
    wake_();
    if (thread_.joinable()) thread_.join();
    pairs_.clear();
    recorder_.reset();
    if (log_ == nullptr) return {};
    if (const Status closed = log_->Close(); !closed)
      fmt::print(stderr, "{}\n", closed.error().ToString());
    return log_->state();
  }

  const std::string& socket() const { return socket_; }

 private:
  void Join(const std::string& service) {
    for (UniqueFd fd = listener_->Accept(); fd.valid(); fd = listener_->Accept()) {
      ConnectionPair::Options options;
      options.on_done = [] {};
      options.on_warning = [](const std::string&) {};
      pairs_.push_back(ConnectionPair::Create(recording_, turns_, std::move(fd),
                                              Connect(service).value(),
                                              std::make_unique<NoTap>(recording_), options)
                           .value());
    }
  }

  std::unique_ptr<EventLoop> loop_;
  testing::LoopWake wake_;
  std::string socket_;
  std::string path_;
  std::optional<Listener> listener_;
  EventLoop::WatchHandle watch_;
  testing::RecordedBodies no_log_;
  RecordingState recording_{*loop_, no_log_, [](const std::string&, int32_t) {}};
  Turns turns_;
  std::vector<std::unique_ptr<ConnectionPair>> pairs_;
  std::unique_ptr<LogQueue> log_;
  std::unique_ptr<Recorder> recorder_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
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

/// Sends so many chunks, `batch` of them with each request, and may wait until they are handled.
void SendChunks(FakeProducer& producer, int chunks, int batch, std::vector<std::string>& payloads,
                bool wait = true) {
  static std::atomic<uint32_t> last_id = 0;
  uint32_t id = last_id.fetch_add(static_cast<uint32_t>(chunks));
  while (chunks > 0) {
    std::string request;
    for (int i = 0; i < batch && chunks > 0; ++i, --chunks) {
      const auto page = producer.FreePage();
      if (!page) return;
      std::string& payload = payloads[id % payloads.size()];
      const uint64_t now = NowNs();
      std::memcpy(payload.data(), &now, sizeof(now));
      producer.Write({.page = *page,
                      .writer = WriterId{1},
                      .id = ChunkId{id++},
                      .fragments = 100,
                      .payload = payload});
      FakeProducer::AddChunk(request, *page, kBuffer);
    }
    producer.Commit(request);
  }
  if (wait) producer.Sync();
}

std::vector<std::string> MakePayloads() {
  std::vector<std::string> payloads;
  for (uint32_t i = 0; i < 64; ++i) payloads.push_back(MakePayload(i));
  return payloads;
}

using Produce = std::function<void(FakeProducer&, std::vector<std::string>& payloads)>;

/// Runs a producer in each of so many threads. @return seconds from when all are connected and have
/// prepared themselves
double RunProducers(
    const std::string& socket, const Produce& produce,
    const Produce& prepare = [](FakeProducer&, std::vector<std::string>&) {},
    int count = kProducers) {
  static const std::vector<std::string> kPayloads = MakePayloads();
  std::vector<std::unique_ptr<FakeProducer>> producers;
  for (int i = 0; i < count; ++i) {
    producers.push_back(std::make_unique<FakeProducer>(socket, fmt::format("p{}", i)));
    producers.back()->Connect();
    producers.back()->RegisterWriter(WriterId{1}, kBuffer);
    producers.back()->Sync();
  }
  std::vector<std::thread> threads;
  std::vector<std::vector<std::string>> payloads(producers.size(), kPayloads);
  for (size_t i = 0; i < producers.size(); ++i) prepare(*producers[i], payloads[i]);
  const uint64_t start = NowNs();
  for (size_t i = 0; i < producers.size(); ++i)
    threads.emplace_back([&, i] { produce(*producers[i], payloads[i]); });
  for (std::thread& thread : threads) thread.join();
  return static_cast<double>(NowNs() - start) / 1e9;
}

/// A service that takes each chunk out of shared memory, and hands it on.
testing::FakeServiceOptions Taking(std::function<void(Bytes)> on_chunk, size_t pages = 256) {
  return {.tracing = {.memory = testing::MemorySizes{pages * TestMemory::kPage, TestMemory::kPage},
                      .traces_all = true,
                      .on_chunk = std::move(on_chunk)}};
}
testing::FakeServiceOptions ServiceOptions(std::vector<uint8_t>& ring, size_t pages = 256) {
  const auto copy = [&ring, at = size_t{0}](Bytes chunk) mutable {
    if (at + chunk.size() > ring.size()) at = 0;
    std::memcpy(ring.data() + at, chunk.data(), chunk.size());
    at += chunk.size();
  };
  return Taking(copy, pages);
}

/// Chunks as fast as they go, one with each request; until the last is in the log.
void BM_RecordSustained(benchmark::State& state) {
  constexpr int kChunks = 32000;  // several times what the queue can hold
  const auto way = static_cast<Way>(state.range(0));
  std::vector<uint8_t> ring(size_t{16} << 20);
  uint64_t dropped = 0;
  const uint64_t cpu = NowNs(CLOCK_PROCESS_CPUTIME_ID);
  for (auto _ : state) {
    FakeService service(ServiceOptions(ring));
    Between between(way, service.producer_socket());
    const double seconds =
        RunProducers(between.socket(), [&](FakeProducer& producer, auto& payloads) {
          SendChunks(producer, kChunks, 1, payloads);
        });
    const uint64_t all_sent = NowNs();
    dropped += between.Finish().dropped_records;
    state.SetIterationTime(seconds + static_cast<double>(NowNs() - all_sent) / 1e9);
  }
  // Producers do not wait for the log: what it had to drop, as they sent more than it can take,
  // counts for nothing.
  const int64_t chunks = state.iterations() * kProducers * kChunks;
  state.SetBytesProcessed((chunks - static_cast<int64_t>(dropped)) *
                          static_cast<int64_t>(TestMemory::kChunkBytes));
  state.counters["dropped_%"] = 100.0 * static_cast<double>(dropped) / static_cast<double>(chunks);
  // Of all that take part, producers and service too: on a busy machine it is more meaningful than
  // the rate.
  state.counters["cpu_us_per_chunk"] = static_cast<double>(NowNs(CLOCK_PROCESS_CPUTIME_ID) - cpu) /
                                       1e3 / static_cast<double>(chunks);
  state.SetLabel(kWayNames[way]);
}
BENCHMARK(BM_RecordSustained)
    ->ArgName("way")
    ->DenseRange(kDirect, kLooksDefault)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

/// Chunks at a rate that all ways can keep up with, 16 with each request: what a recorder costs
/// where it is not the limit.
void BM_RecordPaced(benchmark::State& state) {
  constexpr int kBatch = 16;
  constexpr double kSeconds = 2;
  const auto way = static_cast<Way>(state.range(0));
  const double bytes_per_second = static_cast<double>(state.range(1)) * 1e6 / kProducers;
  const auto batches = static_cast<int>(kSeconds * bytes_per_second /
                                        (kBatch * static_cast<double>(TestMemory::kChunkBytes)));
  std::vector<uint8_t> ring(size_t{16} << 20);
  uint64_t dropped = 0;
  double seconds = 0;
  const uint64_t cpu = NowNs(CLOCK_PROCESS_CPUTIME_ID);
  for (auto _ : state) {
    FakeService service(ServiceOptions(ring));
    Between between(way, service.producer_socket());
    const double taken =
        RunProducers(between.socket(), [&](FakeProducer& producer, auto& payloads) {
          const auto start = std::chrono::steady_clock::now();
          for (int i = 0; i < batches; ++i) {
            std::this_thread::sleep_until(
                start + std::chrono::duration_cast<std::chrono::nanoseconds>(
                            std::chrono::duration<double>(kSeconds * i / batches)));
            SendChunks(producer, kBatch, kBatch, payloads);
          }
        });
    dropped += between.Finish().dropped_records;
    seconds += taken;
    state.SetIterationTime(taken);
  }
  const auto chunks = static_cast<double>(state.iterations()) * kProducers * batches * kBatch;
  state.counters["MB_per_s"] =
      chunks * static_cast<double>(TestMemory::kChunkBytes) / 1e6 / seconds;
  state.counters["dropped_%"] = 100.0 * static_cast<double>(dropped) * kBatch / chunks;
  state.counters["cpu_us_per_chunk"] =
      static_cast<double>(NowNs(CLOCK_PROCESS_CPUTIME_ID) - cpu) / 1e3 / chunks;
  state.SetLabel(kWayNames[way]);
}
BENCHMARK(BM_RecordPaced)
    ->ArgNames({"way", "MB_per_s"})
    ->ArgsProduct({benchmark::CreateDenseRange(kDirect, kLooksDefault, 1), {90}})
    ->UseManualTime()
    ->Iterations(2)
    ->Unit(benchmark::kMillisecond);

/// 64 MB that are ready in shared memory, 64 chunks with each request: what a recorder has to
/// take at once. The rate is that of the service's taking them.
void BM_RecordBurst(benchmark::State& state) {
  constexpr int kBatch = 64;
  const auto way = static_cast<Way>(state.range(0));
  std::vector<uint8_t> ring(size_t{16} << 20);
  uint64_t gaps = 0;
  const auto prepare = [](FakeProducer& producer, std::vector<std::string>& payloads) {
    for (uint32_t page = 0; page < kPagesOfBurst; ++page) {
      producer.Write({.page = page,
                      .writer = WriterId{1},
                      .id = ChunkId{page},
                      .fragments = 100,
                      .payload = payloads[page % payloads.size()]});
    }
  };
  const auto produce = [](FakeProducer& producer, std::vector<std::string>&) {
    for (size_t page = 0; page < kPagesOfBurst;) {
      std::string request;
      for (int i = 0; i < kBatch; ++i) FakeProducer::AddChunk(request, page++, kBuffer);
      producer.Commit(request);
    }
    producer.Sync();
  };
  for (auto _ : state) {
    FakeService service(ServiceOptions(ring, kPagesOfBurst));
    Between between(way, service.producer_socket());
    state.SetIterationTime(RunProducers(between.socket(), produce, prepare));
    gaps += between.Finish().gaps;
  }
  state.SetBytesProcessed(state.iterations() * kProducers * kPagesOfBurst *
                          static_cast<int64_t>(TestMemory::kChunkBytes));
  state.counters["gaps"] = static_cast<double>(gaps);
  state.SetLabel(kWayNames[way]);
}
BENCHMARK(BM_RecordBurst)
    ->ArgName("way")
    ->DenseRange(kProxy, kStrict)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

/// Time since the producer sent the chunk.
double DelayUs(Bytes chunk) {
  uint64_t sent = 0;
  std::memcpy(&sent, chunk.data() + kChunkHeaderSize, sizeof(sent));
  return static_cast<double>(NowNs() - sent) / 1e3;
}

/// From a producer's send to the service's receive, each producer 500 times a second.
void BM_RecordLatency(benchmark::State& state) {
  constexpr int kCommits = 500;
  const auto way = static_cast<Way>(state.range(0));
  std::vector<double> us;
  for (auto _ : state) {
    FakeService service(Taking([&us](Bytes chunk) { us.push_back(DelayUs(chunk)); }));
    Between between(way, service.producer_socket());
    state.SetIterationTime(
        RunProducers(between.socket(), [&](FakeProducer& producer, auto& payloads) {
          for (int i = 0; i < kCommits; ++i) {
            SendChunks(producer, 1, 1, payloads);
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
          }
        }));
  }
  std::sort(us.begin(), us.end());
  state.counters["p50_us"] = us[us.size() / 2];
  state.counters["p99_us"] = us[us.size() * 99 / 100];
  state.SetLabel(kWayNames[way]);
}
BENCHMARK(BM_RecordLatency)
    ->ArgName("way")
    ->DenseRange(kDirect, kStrict)
    ->UseManualTime()
    ->Iterations(2)
    ->Unit(benchmark::kMillisecond);

/// Delays at 25,000 chunks a second in all, one with each request, of some producers. The delay
/// above that of the bare proxy is the recorder's own.
void BM_RecordDelay(benchmark::State& state) {
  constexpr int kChunksPerSecond = 25'000;
  constexpr int kSeconds = 2;
  const auto way = static_cast<Way>(state.range(0));
  const auto producers = static_cast<int>(state.range(1));
  std::vector<double> us;
  for (auto _ : state) {
    FakeService service(Taking([&us](Bytes chunk) { us.push_back(DelayUs(chunk)); }));
    Between between(way, service.producer_socket());
    const auto produce = [&](FakeProducer& producer, std::vector<std::string>& payloads) {
      const std::chrono::nanoseconds pause{uint64_t{1'000'000'000} / kChunksPerSecond *
                                           static_cast<uint64_t>(producers)};
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < kChunksPerSecond * kSeconds / producers; ++i) {
        std::this_thread::sleep_until(start + i * pause);
        SendChunks(producer, 1, 1, payloads, /*wait=*/false);
      }
      producer.Sync();
    };
    state.SetIterationTime(RunProducers(
        between.socket(), produce, [](FakeProducer&, std::vector<std::string>&) {}, producers));
  }
  std::sort(us.begin(), us.end());
  state.counters["p50_us"] = us[us.size() / 2];
  state.counters["p99_us"] = us[us.size() * 99 / 100];
  state.counters["max_us"] = us.back();
  state.SetLabel(kWayNames[way]);
}
BENCHMARK(BM_RecordDelay)
    ->ArgNames({"way", "producers"})
    ->ArgsProduct({{kDirect, kProxy, kStrict, kStrictDefault}, {1, 2, 4, 8}})
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ringscope
