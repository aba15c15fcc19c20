// Losses of producers because they are recorded: pairs of sessions, one directly at the service and
// one through the recorder, whose writers drop what finds no chunk in their shared memory.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <thread>

#include "commands/testing/consumer.h"
#include "commands/testing/fake_service.h"
#include "commands/testing/file_recording.h"
#include "commands/testing/producer.h"
#include "commands/testing/trace_config_message.h"

namespace ringscope {
namespace {

using std::chrono::microseconds;
using testing::Consumer;
using testing::Producer;
using testing::SharedMemoryWriter;

/// The work of the service while the producers write.
enum class Beside : int64_t { kNothing, kReadOfAnother, kReadOfAClone };

struct Traffic {
  const char* name;
  Beside beside;
  int producers;
  int packets;  // of each
  size_t packet_bytes;
  microseconds pause;  // after so many packets
  int at_once;
};
constexpr Traffic kTraffic[] = {
    {"beside a 77 MB read of another session", Beside::kReadOfAnother, 4, 2880, 4500,
     microseconds(350), 1},
    {"in a session whose clone of 75 MB is read", Beside::kReadOfAClone, 4, 2880, 4500,
     microseconds(350), 1},
    {"27,000 chunks/s", Beside::kNothing, 4, 410'000, 130, microseconds(1000), 210},
};
/// Content of the large buffers that are read.
constexpr Traffic kFilling{
    "77 MB", Beside::kNothing, 1, 20'700, 3900, microseconds(0), std::numeric_limits<int>::max()};
constexpr uint64_t kLargeKb = 80 << 10;

std::string ConfigOf(const char* source, uint64_t size_kb, const std::string& name) {
  ipc::TraceConfig config;
  config.buffers = {{.size_kb = size_kb, .experimental_mode = ipc::kExperimentalModeV2}};
  config.data_sources = {{.config = {.name = source}, .producer_names = {}}};
  config.unique_session_name = name;
  return testing::Encode(config);
}

std::unique_ptr<Producer> ProducerOf(const std::string& socket, const char* source,
                                     const std::string& name, bool drops) {
  auto producer = Producer::Connect(
      socket, {.name = name, .sources = {{.name = source}}, .drops_when_full = drops});
  static_cast<void>(producer.value()->WaitForSources(1));
  return *std::move(producer);
}

std::string PacketOf(size_t bytes) {
  std::string packet;
  wire::AppendBytes(packet, 900, wire::AsBytes(std::string(bytes, 'x')));
  return packet;
}

/// Writes the traffic. @return packets that were dropped
uint64_t Write(Producer& producer, const Traffic& traffic) {
  SharedMemoryWriter& writer = **producer.AddWriter(producer.started()[0].buffer);
  const std::string packet = PacketOf(traffic.packet_bytes);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < traffic.packets; ++i) {
    if (i % traffic.at_once == 0)
      std::this_thread::sleep_until(begin + i / traffic.at_once * traffic.pause);
    // Like a nested message whose size is patched where the packet continues in another chunk.
    static_cast<void>(writer.Write(wire::AsBytes(packet), 2));
  }
  static_cast<void>(producer.Commit());
  static_cast<void>(producer.Sync());
  return writer.dropped();
}

/// @return packets that the writers dropped
uint64_t RunTraffic(const Traffic& traffic, bool recorded, uint64_t& marks) {
  testing::FakeService service;
  RecorderOptions options{.producer = {service.producer_socket(), {}},
                          .consumer = PortSockets{service.consumer_socket(), {}},
                          .looks = true};
  std::optional<testing::FileRecording> recording;
  if (recorded) {
    for (PortSockets* const sockets : {&options.producer, &*options.consumer})
      sockets->connect = std::exchange(sockets->listen, testing::UniqueSocketName("losses"));
    recording.emplace(options);
  }
  const std::string& to_producers = options.producer.listen;
  const std::string& to_consumers = options.consumer->listen;

  Consumer consumer = Consumer::Connect(to_consumers).value();
  Consumer reader = Consumer::Connect(to_consumers).value();
  const bool is_large = traffic.beside == Beside::kReadOfAClone;
  static_cast<void>(
      consumer.EnableTracing(ConfigOf("work", is_large ? kLargeKb : 4096, "recorded")));
  std::unique_ptr<Producer> filler;
  if (traffic.beside != Beside::kNothing) {
    if (!is_large) static_cast<void>(reader.EnableTracing(ConfigOf("other", kLargeKb, "other")));
    filler = ProducerOf(to_producers, is_large ? "work" : "other", "filler", false);
    Write(*filler, kFilling);
  }
  std::vector<std::unique_ptr<Producer>> producers;
  for (int i = 0; i < traffic.producers; ++i)
    producers.push_back(ProducerOf(to_producers, "work", fmt::format("p{}", i), true));
  if (is_large) {
    const uint64_t clone = reader.StartClone("recorded").value();
    const auto answer = [](Producer& producer) {
      static_cast<void>(producer.WaitForFlush());
      static_cast<void>(producer.AnswerFlushes());
    };
    for (const auto& producer : producers) answer(*producer);
    answer(*filler);
    static_cast<void>(reader.WaitForClone(clone));
  }
  std::atomic<uint64_t> dropped = 0;
  std::vector<std::thread> threads;
  for (const auto& producer : producers)
    threads.emplace_back([&, &one = *producer] { dropped += Write(one, traffic); });
  if (traffic.beside != Beside::kNothing) {
    std::string trace;
    static_cast<void>(reader.ReadBuffers(trace));
  }
  for (std::thread& thread : threads) thread.join();
  static_cast<void>(consumer.DisableTracing());
  if (recording) {
    recording->Finish();
    marks += recording->marks();
  }
  return dropped;
}

/// Pairs, direct and recorded in turn.
void BM_RecordLosses(benchmark::State& state) {
  const Traffic& traffic = kTraffic[state.range(0)];
  std::vector<uint64_t> lost[2];
  uint64_t marks = 0;
  for (auto _ : state)
    for (const bool recorded : {false, true})
      lost[recorded ? 1 : 0].push_back(RunTraffic(traffic, recorded, marks));
  const double all = double{1} * traffic.packets * traffic.producers;
  for (const bool recorded : {false, true}) {
    auto& runs = lost[recorded ? 1 : 0];
    std::ranges::sort(runs);
    const std::string way = recorded ? "recorded" : "direct";
    const auto sum = static_cast<double>(std::accumulate(runs.begin(), runs.end(), uint64_t{0}));
    state.counters[way + "_%"] = 100 * sum / static_cast<double>(runs.size()) / all;
    state.counters[way + "_least"] = static_cast<double>(runs.front());
    state.counters[way + "_median"] = static_cast<double>(runs[runs.size() / 2]);
    state.counters[way + "_most"] = static_cast<double>(runs.back());
  }
  state.counters["packets"] = all;
  state.counters["marks"] = static_cast<double>(marks);
  state.SetLabel(traffic.name);
}
BENCHMARK(BM_RecordLosses)
    ->ArgName("traffic")
    ->DenseRange(0, std::size(kTraffic) - 1)
    ->Iterations(12)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ringscope
