// The demo's service, recorded: the replay of the log must equal what its consumers received.

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "commands/testing/demo_recording.h"

namespace ringscope::testing {
namespace {

using demo::Consumer;
using demo::Producer;
using demo::SessionContent;
using demo::TraceWriter;

struct TestBuffer {
  uint64_t size_kb = 64;
  bool v2 = true;
  bool discard = false;
  bool transfer_on_clone = false;
};

/// A TraceConfig: data source "source.I" writes to buffer I.
std::string Config(const std::vector<TestBuffer>& buffers, const std::string& name = {}) {
  ipc::TraceConfig config;
  for (size_t i = 0; i < buffers.size(); ++i) {
    config.buffers.push_back({.size_kb = buffers[i].size_kb,
                              .fill_policy = buffers[i].discard ? 2u : 1u,
                              .experimental_mode = buffers[i].v2 ? 1u : 0u,
                              .transfer_on_clone = buffers[i].transfer_on_clone});
    config.data_sources.push_back(
        {{.name = "source." + std::to_string(i), .target_buffer = i}});
  }
  config.unique_session_name = name;
  return Encode(config);
}

std::vector<ipc::DataSourceDescriptor> Sources(size_t count) {
  std::vector<ipc::DataSourceDescriptor> sources;
  for (size_t i = 0; i < count; ++i)
    sources.push_back({.name = "source." + std::to_string(i), .will_notify_on_stop = true});
  return sources;
}

/// A packet with a nested message whose size may be patched. @return the size's offset
size_t MakePacket(size_t bytes, uint64_t number, std::string& packet) {
  packet.clear();
  wire::AppendUint(packet, 8, number);
  wire::AppendTag(packet, 900, wire::Type::kBytes);
  const size_t at = packet.size();
  std::string text;
  wire::AppendBytes(text, 1, wire::AsBytes(std::string(bytes, 'x')));
  size_t size = text.size();
  for (int i = 0; i < 4; ++i, size >>= 7)
    packet += static_cast<char>((size & 0x7F) | (i < 3 ? 0x80 : 0));
  packet += text;
  return at;
}

/// Writes packets of all sizes to some sequences, flushes when asked.
void WriteSome(Producer& producer, const std::vector<TraceWriter*>& writers, int packets,
               uint32_t seed) {
  std::mt19937 random(seed);
  std::string packet;
  for (int i = 0; i < packets; ++i) {
    const size_t bytes = random() % 20 == 0 ? random() % 9000 : random() % 200;
    const size_t patched = MakePacket(bytes, static_cast<uint64_t>(i) + 1, packet);
    ASSERT_TRUE(writers[random() % writers.size()]->Write(wire::AsBytes(packet), patched));
    while (producer.Poll().value()) {
    }
    if (!producer.flushes().empty()) ASSERT_TRUE(producer.AnswerFlushes());
  }
}

/// Answers what the service asks for until all data sources have stopped.
void ServeUntilStopped(Producer& producer) {
  while (!producer.started().empty()) {
    ASSERT_TRUE(producer.Wait());
    if (!producer.flushes().empty()) ASSERT_TRUE(producer.AnswerFlushes());
  }
}

SessionContent Received(Consumer& consumer) {
  std::string trace;
  EXPECT_TRUE(consumer.ReadBuffers(trace));
  return demo::ContentOfTrace(trace, consumer.GetTraceStats().value()).value();
}

class DemoService : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Buffers, DemoService, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "V2" : "V1"; });

TEST_P(DemoService, OneProducer_ReplayEqualsTrace) {
  DemoRecording run;
  auto consumer = Consumer::Connect(run.consumer_listen()).value();
  ASSERT_TRUE(consumer.EnableTracing(Config({{.v2 = GetParam()}})));
  auto producer = Producer::Connect(run.listen(), {.name = "p", .sources = Sources(1)}).value();
  ASSERT_TRUE(producer->WaitForSources(1));
  const BufferId buffer = producer->started()[0].buffer;
  std::vector<TraceWriter*> writers;
  for (int i = 0; i < 3; ++i) writers.push_back(producer->AddWriter(buffer).value());
  WriteSome(*producer, writers, 2000, 1);
  const uint64_t flush = consumer.StartFlush().value();
  ASSERT_TRUE(producer->WaitForFlush());
  ASSERT_TRUE(producer->AnswerFlushes());
  EXPECT_TRUE(consumer.WaitFor(flush).value());
  ASSERT_TRUE(consumer.DisableTracing());
  ServeUntilStopped(*producer);
  ASSERT_TRUE(consumer.WaitUntilDisabled());
  const SessionContent received = Received(consumer);
  EXPECT_GT(received.packets.size(), 300u);
  EXPECT_GT(received.stats.at(0).chunks_overwritten, 10u);
  ASSERT_TRUE(consumer.FreeBuffers());
  run.ExpectSessions({{1, received}});
}

}  // namespace
}  // namespace ringscope::testing
