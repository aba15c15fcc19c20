// the fake service, recorded: the replay of the log must equal what its consumers received.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "commands/shell/commands.h"
#include "commands/testing/fake_producer.h"
#include "commands/testing/live_recording.h"
#include "commands/testing/memory_run.h"
#include "core/session/replay.h"
#include "core/testing/protovm_dsl.h"
#include "formats/log/commit_log_writer.h"
#include "formats/testing/string_sink.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope::testing {
namespace {

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
    config.data_sources.push_back({{.name = "source." + std::to_string(i), .target_buffer = i}});
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
void WriteSome(Producer& producer, const std::vector<SharedMemoryWriter*>& writers, int packets,
               uint32_t seed) {
  std::mt19937 random(seed);
  std::string packet;
  for (int i = 0; i < packets; ++i) {
    const size_t bytes = random() % 20 == 0 ? random() % 9000 : random() % 200;
    const size_t patched = MakePacket(bytes, static_cast<uint64_t>(i) + 1, packet);
    ASSERT_TRUE(writers[random() % writers.size()]->Write(wire::AsBytes(packet), patched));
    while (producer.Poll().value()) {
    }
    if (producer.flushes().empty()) continue;
    ASSERT_TRUE(producer.AnswerFlushes());
  }
}

/// Answers what the service asks for until all data sources have stopped.
void ServeUntilStopped(Producer& producer) {
  while (!producer.started().empty()) {
    ASSERT_TRUE(producer.Wait());
    if (producer.flushes().empty()) continue;
    ASSERT_TRUE(producer.AnswerFlushes());
  }
}

uint64_t ServiceCounter(const std::string& trace_stats, uint32_t number) {
  uint64_t value = 0;
  wire::FieldReader fields(wire::AsBytes(trace_stats));
  while (const auto field = fields.Next())
    if (field->number == number) value = field->value;
  return value;
}

TraceContent Received(Consumer& consumer) {
  std::string trace;
  EXPECT_TRUE(consumer.ReadBuffers(trace));
  return ContentOfTrace(trace, consumer.GetTraceStats().value()).value();
}

class LiveService : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Buffers, LiveService, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "V2" : "V1"; });

/// A session with one producer that writes to one buffer, played step by step.
class OneSession {
 public:
  /// @param program of the first producer's data source; empty: it has none
  OneSession(LiveRecording& run, const std::string& config, const UniqueFd* file = nullptr,
             const std::string& program = {})
      : consumer(Consumer::Connect(run.consumer_listen()).value()) {
    EXPECT_TRUE(consumer.EnableTracing(config, file));
    Add(run, "p", program);
  }
  /// Adds a producer with three sequences.
  Producer& Add(LiveRecording& run, const std::string& name, const std::string& program = {}) {
    std::vector<ipc::DataSourceDescriptor> sources = Sources(1);
    sources[0].protovm_program = program;
    producers.push_back(
        Producer::Connect(run.listen(), {.name = name, .sources = std::move(sources)}).value());
    EXPECT_TRUE(producers.back()->WaitForSources(1));
    auto& own = writers.emplace_back();
    for (int i = 0; i < 3; ++i)
      own.push_back(producers.back()->AddWriter(producers.back()->started()[0].buffer).value());
    return *producers.back();
  }
  void Write(int packets, uint32_t seed) {
    for (size_t i = 0; i < producers.size(); ++i) {
      WriteSome(*producers[i], writers[i], packets, seed + static_cast<uint32_t>(i));
      ASSERT_TRUE(producers[i]->Commit());
      ASSERT_TRUE(producers[i]->Sync());
    }
  }
  void AnswerFlush() {
    for (const auto& producer : producers) {
      ASSERT_TRUE(producer->WaitForFlush());
      ASSERT_TRUE(producer->AnswerFlushes());
    }
  }
  void End() {
    const uint64_t flush = consumer.StartFlush().value();
    AnswerFlush();
    EXPECT_TRUE(consumer.WaitFor(flush).value());
    ASSERT_TRUE(consumer.DisableTracing());
    for (const auto& producer : producers) ServeUntilStopped(*producer);
    ASSERT_TRUE(consumer.WaitUntilDisabled());
  }

  Consumer consumer;
  std::vector<std::unique_ptr<Producer>> producers;
  std::vector<std::vector<SharedMemoryWriter*>> writers;
};

TEST_P(LiveService, OneProducer_ReplayEqualsTrace) {
  LiveRecording run;
  OneSession session(run, Config({{.v2 = GetParam()}}));
  session.Write(2000, 1);
  session.End();
  const TraceContent received = Received(session.consumer);
  EXPECT_GT(received.packets.size(), 100u);
  EXPECT_GT(received.stats.at(0).chunks_overwritten, 10u);
  ASSERT_TRUE(session.consumer.FreeBuffers());
  run.ExpectSessions({{1, received}});
}

/// The contents of a trace's packets with states of programs (ProtoVM).
std::vector<std::string> ProtoVmsOf(const std::string& trace) {
  std::vector<std::string> found;
  wire::FieldReader packets(wire::AsBytes(trace));
  while (const auto packet = packets.Next()) {
    wire::FieldReader fields(packet->bytes);
    while (const auto field = fields.Next())
      if (field->number == proto::TracePacket::kProtovms)
        found.emplace_back(wire::AsText(field->bytes));
  }
  return found;
}

/// The state is the text of the last packet that was overwritten.
std::string LastTextProgram() {
  return vm::ProgramOf({vm::SelectSrc({vm::Field(900), vm::Field(1)},
                                      {vm::SelectDst({vm::Field(901)}, {vm::Set()})})});
}
/// A session that keeps the state of its data source's program.
std::string ConfigWithState(bool v2, bool transfer_on_clone = false) {
  ipc::TraceConfig config;
  config.unique_session_name = "cloned";
  config.buffers.push_back(
      {.size_kb = 64, .experimental_mode = v2 ? 1u : 0u, .transfer_on_clone = transfer_on_clone});
  std::string source;
  wire::AppendBytes(source, 1, wire::AsBytes("source.0"));
  source += vm::Sub(12, vm::Uint(1, 1024));
  return Encode(config) + vm::Sub(proto::TraceConfig::kDataSources,
                                  vm::Sub(proto::TraceConfig::DataSource::kConfig, source));
}

TEST_P(LiveService, OverwrittenPackets_AreFoldedIntoTheStateThatTheReplayHas) {
  LiveRecording run;
  OneSession session(run, ConfigWithState(GetParam()), nullptr, LastTextProgram());
  session.Write(2000, 1);
  session.End();
  std::string trace;
  ASSERT_TRUE(session.consumer.ReadBuffers(trace));
  const std::string stats = session.consumer.GetTraceStats().value();
  const std::vector<std::string> received = ProtoVmsOf(trace);
  ASSERT_EQ(received.size(), GetParam() ? 1u : 0u);
  ASSERT_TRUE(session.consumer.FreeBuffers());
  run.ExpectSessions({{1, ContentOfTrace(trace, stats).value()}});

  StringSink sink;
  ringscope::TraceWriter writer(sink);
  Replay replay({}, writer);
  const auto ops = run.opener()().value();
  while (const auto op = ops->Next().value()) ASSERT_TRUE(replay.Apply(*op));
  ASSERT_TRUE(replay.Finish());
  ASSERT_TRUE(writer.Finish());
  EXPECT_EQ(ProtoVmsOf(sink.text), received);
  if (GetParam()) {
    EXPECT_THAT(received[0], ::testing::HasSubstr("xxxxxxxx"));
  }
}

TEST_P(LiveService, Clones_HaveTheStatesOfTheirInstants) {
  for (const bool transfer : {false, true}) {
    LiveRecording run;
    OneSession session(run, ConfigWithState(GetParam(), transfer), nullptr, LastTextProgram());
    session.Write(2000, 1);
    Consumer holder = Consumer::Connect(run.consumer_listen()).value();
    const uint64_t request = holder.StartClone("cloned").value();
    session.AnswerFlush();
    ASSERT_TRUE(holder.WaitForClone(request));
    std::string of_clone, own;
    ASSERT_TRUE(holder.ReadBuffers(of_clone));
    session.End();
    ASSERT_TRUE(session.consumer.ReadBuffers(own));
    const std::vector<std::string> states = ProtoVmsOf(of_clone);
    ASSERT_EQ(states.size(), GetParam() ? 1u : 0u);
    // The buffer that was taken over took its program along.
    EXPECT_EQ(ProtoVmsOf(own).size(), GetParam() && !transfer ? 1u : 0u);
    if (GetParam()) {
      EXPECT_THAT(states[0], ::testing::HasSubstr("xxxxxxxx"));
    }
  }
}

TEST_P(LiveService, SeveralProducers_ReplayEqualsTrace) {
  LiveRecording run;
  OneSession session(run, Config({{.size_kb = 128, .v2 = GetParam()}}));
  for (const char* name : {"q", "r", "s"}) session.Add(run, name);
  for (uint32_t seed = 1; seed < 20; ++seed) session.Write(50, 10 * seed);
  session.End();
  const TraceContent received = Received(session.consumer);
  EXPECT_GT(received.stats.at(0).chunks_overwritten, 10u);
  run.ExpectSessions({{1, received}});
}

TEST_P(LiveService, DiscardBuffer_ReplayEqualsTrace) {
  LiveRecording run;
  OneSession session(run, Config({{.v2 = GetParam(), .discard = true}}));
  session.Write(1000, 1);
  session.End();
  const TraceContent received = Received(session.consumer);
  EXPECT_GT(received.stats.at(0).chunks_discarded, 10u);
  run.ExpectSessions({{1, received}});
}

TEST_P(LiveService, ReadInBetween_ReplayEqualsTrace) {
  LiveRecording run;
  OneSession session(run, Config({{.v2 = GetParam()}}));
  std::string trace;
  for (uint32_t seed = 1; seed < 10; ++seed) {
    session.Write(100, seed);
    ASSERT_TRUE(session.consumer.ReadBuffers(trace));
  }
  session.End();
  ASSERT_TRUE(session.consumer.ReadBuffers(trace));
  const std::string stats = session.consumer.GetTraceStats().value();
  run.ExpectSessions({{1, ContentOfTrace(trace, stats).value()}});
}

// Until its trigger the session is not started, or nothing can be read.
TEST_P(LiveService, SessionWithATrigger_ReplayEqualsTrace) {
  for (const uint64_t mode : {ipc::kTriggerModeStart, kTriggerModeStop}) {
    SCOPED_TRACE(mode);
    LiveRecording run;
    std::string trigger = vm::Sub(2, vm::Sub(1, "go") + vm::Uint(3, 200)), trace;
    trigger += vm::Uint(1, mode) + vm::Uint(3, 60'000);
    Consumer consumer = Consumer::Connect(run.consumer_listen()).value();
    ASSERT_TRUE(consumer.EnableTracing(Config({{.v2 = GetParam()}}) +
                                       vm::Sub(proto::TraceConfig::kTriggerConfig, trigger)));
    const auto producer =
        Producer::Connect(run.listen(), {.name = "p", .sources = Sources(1)}).value();
    ASSERT_TRUE(consumer.ReadBuffers(trace));
    EXPECT_EQ(trace, "");
    const bool starts = mode == ipc::kTriggerModeStart;
    EXPECT_EQ(producer->started().empty(), starts);
    if (starts) {
      ASSERT_TRUE(producer->ActivateTrigger("go"));
    }
    ASSERT_TRUE(producer->WaitForSources(1));
    WriteSome(*producer, {producer->AddWriter(producer->started()[0].buffer).value()}, 300, 1);
    ASSERT_TRUE(producer->Commit());
    if (!starts) {
      ASSERT_TRUE(producer->ActivateTrigger("go"));
    }
    ServeUntilStopped(*producer);
    ASSERT_TRUE(consumer.WaitUntilDisabled());
    const TraceContent received = Received(consumer);
    EXPECT_GT(received.packets.size(), 10u);
    run.ExpectSessions({{1, received}});
    EXPECT_THAT(run.log().All<Inexact>(), ::testing::IsEmpty());
    EXPECT_EQ(run.log().All<TriggerActivated>().size(), 1u);
  }
}

TEST_P(LiveService, TwoSessions_EachReplayEqualsItsTrace) {
  LiveRecording run;
  OneSession first(run, Config({{.v2 = GetParam()}}));
  // The first one's producer takes part in the second session, too.
  OneSession second(run, Config({{.size_kb = 32, .v2 = GetParam(), .discard = true}}));
  ASSERT_TRUE(first.producers[0]->WaitForSources(2));
  first.Write(500, 1);
  second.Write(100, 2);
  const uint64_t flush = second.consumer.StartFlush().value();
  first.AnswerFlush();
  second.AnswerFlush();
  EXPECT_TRUE(second.consumer.WaitFor(flush).value());
  const TraceContent of_second = Received(second.consumer);
  const TraceContent of_first = Received(first.consumer);
  EXPECT_GT(of_first.packets.size(), 100u);
  run.ExpectSessions({{1, of_first}, {2, of_second}});
}

TEST_P(LiveService, Clones_ReplayEqualsTheirTraces) {
  for (const bool transfer : {false, true}) {
    LiveRecording run;
    OneSession session(run, Config({{.v2 = GetParam(), .transfer_on_clone = transfer}}, "cloned"));
    std::map<uint64_t, TraceContent> clones;
    for (uint64_t number = 1; number <= 3; ++number) {
      session.Write(300, static_cast<uint32_t>(number));
      Consumer holder = Consumer::Connect(run.consumer_listen()).value();
      const uint64_t request = holder.StartClone("cloned").value();
      session.AnswerFlush();
      ASSERT_TRUE(holder.WaitForClone(request));
      clones[number] = Received(holder);
      EXPECT_GT(clones[number].packets.size(), 50u);
    }
    session.End();
    const TraceContent received = Received(session.consumer);
    run.ExpectSessions({{1, received}});
    run.ExpectClones(clones);
  }
}

UniqueFd NewFile(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
}
/// Of a session that is read once, at its end, into a file.
std::string FileConfig(bool v2) {
  std::string config = Config({{.v2 = v2}});
  wire::AppendUint(config, 8, 1);        // write_into_file
  wire::AppendUint(config, 9, 600'000);  // file_write_period_ms
  wire::AppendUint(config, 44, 2);       // write_flush_mode: disabled
  return config;
}

TEST_P(LiveService, WrittenIntoFile_ReplayEqualsTheFile) {
  LiveRecording run;
  const TempFolder folder;
  const std::string path = folder.File("out.pftrace");
  const UniqueFd file = NewFile(path);
  OneSession session(run, FileConfig(GetParam()), &file);
  session.Write(1000, 1);
  session.End();
  const TraceContent written = ReadTraceContent(OpenByteSource(path).value()).value();
  EXPECT_GT(written.stats.at(0).chunks_overwritten, 10u);
  ASSERT_TRUE(session.consumer.FreeBuffers());
  run.ExpectSessions({{1, written}});
}

// With the service's own packets there is more than a pass reads, and without them less: what
// stalls is met twice.
TEST_P(LiveService, OwnPackets_CountInTheFirstPassForAFile) {
  constexpr int kChunks = 257;
  constexpr size_t kPacketBytes = 2000, kOwnBytes = 20'000;
  LiveRecording run;
  const TempFolder folder;
  const std::string path = folder.File("out.pftrace");
  const UniqueFd file = NewFile(path);
  ipc::TraceConfig sources;
  sources.buffers = {{.size_kb = 4096, .experimental_mode = GetParam() ? 1u : 0u}};
  sources.data_sources = {{{.name = "source.p"}}};
  std::string config = Encode(sources);
  wire::AppendUint(config, 8, 1);        // write_into_file
  wire::AppendUint(config, 9, 600'000);  // file_write_period_ms
  wire::AppendBytes(config, 900, wire::AsBytes(std::string(kOwnBytes, 'x')));
  Consumer consumer = Consumer::Connect(run.consumer_listen()).value();
  ASSERT_TRUE(consumer.EnableTracing(config, &file));
  FakeProducer producer(run.listen(), "p");
  ASSERT_TRUE(producer.Connect());
  ASSERT_TRUE(run.log().WaitFor<DataSourceSetUp>());
  const BufferId buffer = run.log().All<DataSourceSetUp>().front().target_buffer;
  for (const auto writer : {WriterId{1}, WriterId{2}}) producer.RegisterWriter(writer, buffer);
  std::string packet, payload;
  wire::AppendBytes(packet, 900, wire::AsBytes(std::string(kPacketBytes, 'x')));
  for (int i = 0; i < 2; ++i) {
    wire::AppendVarint(payload, packet.size());
    payload += packet;
  }
  for (uint32_t chunk = 0; chunk <= kChunks; ++chunk) {
    const auto page = producer.FreePage();
    ASSERT_TRUE(page);
    // The last packet of the first one continues in a chunk that is never committed.
    const bool stalls = chunk == 0;
    producer.Write({.page = *page,
                    .writer = WriterId{stalls ? uint16_t{2} : uint16_t{1}},
                    .id = ChunkId{chunk},
                    .fragments = 2,
                    .flags = stalls ? kLastContinues : uint8_t{0},
                    .payload = payload});
    std::string request;
    FakeProducer::AddChunk(request, *page, buffer);
    ASSERT_TRUE(producer.Commit(request));
  }
  ASSERT_TRUE(producer.Sync());
  ASSERT_TRUE(consumer.DisableTracing());
  ASSERT_TRUE(consumer.WaitUntilDisabled());
  const TraceContent written = ReadTraceContent(OpenByteSource(path).value()).value();
  EXPECT_EQ(written.packets.size(), 2u * kChunks + 1);
  if (GetParam()) {
    EXPECT_EQ(written.stats.at(0).readaheads_failed, 2u);
  }
  ASSERT_TRUE(consumer.FreeBuffers());
  run.ExpectSessions({{1, written}});
  const auto reads = run.log().All<ReadPass>();
  ASSERT_EQ(reads.size(), 1u);
  EXPECT_GT(reads[0].own_bytes, kOwnBytes);
}

// Its file has a copy of the session's file, and after that the clone, whose ids begin from 2
// again.
TEST_P(LiveService, CloneOfASessionWithAFile_ReplayEqualsItsFile) {
  LiveRecording run;
  const TempFolder folder;
  const UniqueFd file = NewFile(folder.File("out.pftrace"));
  const std::string path = folder.File("clone.pftrace");
  const UniqueFd clone_file = NewFile(path);
  std::string config = Config({{.size_kb = 512, .v2 = GetParam()}}, "cloned");
  wire::AppendUint(config, 8, 1);    // write_into_file
  wire::AppendUint(config, 9, 100);  // file_write_period_ms
  wire::AppendUint(config, 44, 2);   // write_flush_mode: disabled
  OneSession session(run, config, &file);
  session.Write(300, 1);
  ASSERT_TRUE(run.log().WaitFor<ReadPass>());
  session.Write(300, 2);
  Consumer holder = Consumer::Connect(run.consumer_listen()).value();
  const uint64_t request = holder.StartClone("cloned", &clone_file).value();
  session.AnswerFlush();
  ASSERT_TRUE(holder.WaitForClone(request));
  session.End();
  ASSERT_TRUE(session.consumer.FreeBuffers());
  const TraceContent written = ReadTraceContent(OpenByteSource(path).value()).value();
  EXPECT_GT(written.packets.size(), 500u);
  run.ExpectClones({{1, written}});

  StringSink log;
  const auto writer = CommitLogWriter::Create(log).value();
  ASSERT_TRUE(writer->Append({.time_ns = {}, .body = ImportHeader()}));
  for (const Op& op : run.log().TimedOps()) ASSERT_TRUE(writer->Append(op));
  ASSERT_TRUE(writer->Close());
  const Ran ran =
      RunCommand(DiffCommand(), {folder.Write("a.tblog", log.text), path, "--clone", "1"});
  EXPECT_EQ(ran.code, ExitCode::kClean) << ran.out << ran.error;
  EXPECT_THAT(ran.out, ::testing::HasSubstr("A and B are the same"));
  // The service's events in the file show that it is a clone's.
  EXPECT_EQ(RunCommand(DiffCommand(), {folder.File("a.tblog"), path}).out, ran.out);
}

TEST_P(LiveService, FileWithALimit_HasThePacketsThatFit) {
  constexpr uint64_t kLimit = 30'000, kLargestPacket = 10'000;
  LiveRecording run;
  const TempFolder folder;
  const std::string path = folder.File("out.pftrace");
  const UniqueFd file = NewFile(path);
  std::string config = FileConfig(GetParam());
  wire::AppendUint(config, 10, kLimit);  // max_file_size_bytes
  OneSession session(run, config, &file);
  session.Write(1000, 1);
  session.End();
  const uint64_t size = std::filesystem::file_size(path);
  EXPECT_LT(size, kLimit);
  EXPECT_GT(size, kLimit - kLargestPacket);
  ASSERT_TRUE(session.consumer.FreeBuffers());
}

TEST_P(LiveService, KilledProducer_IsScrapedAndReplayEqualsTrace) {
  LiveRecording run;
  OneSession session(run, Config({{.size_kb = 1024, .v2 = GetParam()}}));
  Producer& killed = session.Add(run, "killed");
  session.Write(100, 1);
  // Written, and not committed.
  for (SharedMemoryWriter* writer : session.writers.back())
    for (int i = 0; i < 3; ++i)
      ASSERT_TRUE(writer->Write(wire::AsBytes(std::string("\x40\x01", 2))));
  killed.Kill();
  const auto connected = [&] {
    const std::string stats = session.consumer.GetTraceStats().value();
    return ServiceCounter(stats, 2);
  };
  while (connected() > 1) {
  }
  session.producers.pop_back();
  session.writers.pop_back();
  session.End();
  const TraceContent received = Received(session.consumer);
  EXPECT_GT(received.packets.size(), 200u);
  run.ExpectSessions({{1, received}});
}

// The shared memory is full, and packets are lost there.
TEST_P(LiveService, WriterThatDrops_ReplayEqualsTrace) {
  LiveRecording run;
  auto consumer = Consumer::Connect(run.consumer_listen()).value();
  ASSERT_TRUE(consumer.EnableTracing(Config({{.v2 = GetParam()}})));
  const auto producer = Producer::Connect(run.listen(), {.name = "p",
                                                         .sources = Sources(1),
                                                         .own_memory = 4 * 4096,
                                                         .batch_bytes = 1 << 20,
                                                         .drops_when_full = true})
                            .value();
  ASSERT_TRUE(producer->WaitForSources(1));
  SharedMemoryWriter* const writer = producer->AddWriter(producer->started()[0].buffer).value();
  for (int round = 0; round < 5; ++round) {
    WriteSome(*producer, {writer}, 300, static_cast<uint32_t>(round));
    ASSERT_TRUE(producer->Commit());
    ASSERT_TRUE(producer->Sync());
  }
  EXPECT_GT(writer->dropped(), 10u);
  const TraceContent received = Received(consumer);
  EXPECT_GT(received.stats.at(0).trace_writer_packet_loss, 0u);
  run.ExpectSessions({{1, received}});
}

}  // namespace
}  // namespace ringscope::testing
