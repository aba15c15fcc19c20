// `record` as a user has it: with a service, a producer and a consumer, ended by signals.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "commands/shell/commands.h"
#include "commands/testing/consumer.h"
#include "commands/testing/fake_service.h"
#include "commands/testing/ipc_peer.h"
#include "commands/testing/memory_run.h"
#include "commands/testing/producer.h"
#include "core/perfetto/fields.h"
#include "formats/testing/parsed_json.h"

namespace ringscope::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Waits for what another thread brings about. @return false: it does not come
bool Eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

/// The signals that end `record` have their effect: in a background job of a shell they are
/// ignored, and `record` keeps that.
class DefaultSignals {
 public:
  ~DefaultSignals() {
    ::signal(SIGINT, interrupt_);
    ::signal(SIGTERM, terminate_);
  }

 private:
  using Handler = void (*)(int);
  const Handler interrupt_ = ::signal(SIGINT, SIG_DFL);
  const Handler terminate_ = ::signal(SIGTERM, SIG_DFL);
};

/// `record` at work in a thread of its own, which gets the signals.
class LiveRecord {
 public:
  explicit LiveRecord(const std::vector<std::string>& options) {
    std::vector<std::string> args = {"-o",
                                     log_,
                                     "--listen",
                                     listen_,
                                     "--connect",
                                     service_.producer_socket(),
                                     "--consumer-listen",
                                     consumer_listen_,
                                     "--consumer-connect",
                                     service_.consumer_socket()};
    args.insert(args.end(), options.begin(), options.end());
    thread_ = std::thread([this, args] { ran_ = RunCommand(RecordCommand(), args); });
    EXPECT_TRUE(Eventually([this] { return IsListening(); }));
  }
  ~LiveRecord() {
    if (!thread_.joinable()) return;
    Signal(SIGINT);
    Signal(SIGTERM);
    thread_.join();
  }

  bool IsListening() const { return Connect(listen_).has_value(); }
  void Signal(int signal) { pthread_kill(thread_.native_handle(), signal); }
  /// Waits for its end.
  const Ran& Wait() {
    thread_.join();
    return ran_;
  }
  const std::string& listen() const { return listen_; }
  const std::string& consumer_listen() const { return consumer_listen_; }
  const std::string& log() const { return log_; }

 private:
  const DefaultSignals signals_;
  const TempFolder folder_;
  const std::string log_ = folder_.File("cap.tblog");
  const std::string listen_ = UniqueSocketName("listen");
  const std::string consumer_listen_ = UniqueSocketName("consumer-listen");
  const FakeService service_;
  Ran ran_;
  std::thread thread_;
};

/// Of the packets that UserSession writes.
constexpr uint32_t kContentField = 900;

/// A consumer's session, and one producer that writes to it.
class UserSession {
 public:
  explicit UserSession(const LiveRecord& live)
      : consumer_(Consumer::Connect(live.consumer_listen()).value()) {
    ipc::TraceConfig config;
    config.buffers = {{.size_kb = 64, .experimental_mode = ipc::kExperimentalModeV2}};
    config.data_sources = {{{.name = "source", .target_buffer = 0}}};
    EXPECT_TRUE(consumer_.EnableTracing(Encode(config)));
    producer_ =
        Producer::Connect(live.listen(), {.name = "p", .sources = {{.name = "source"}}}).value();
    EXPECT_TRUE(producer_->WaitForSources(1));
    writer_ = producer_->AddWriter(producer_->started().front().buffer).value();
  }

  /// @return whether the service got it
  bool Write(int packets) {
    for (int i = 0; i < packets; ++i) {
      std::string packet;
      wire::AppendUint(packet, 8, ++time_);
      wire::AppendBytes(packet, kContentField, wire::AsBytes(std::string(200, 'x')));
      if (!writer_->Write(wire::AsBytes(packet))) return false;
    }
    return producer_->Commit() && producer_->Sync();
  }
  /// Stops and reads the session. @return the trace
  std::string Read() {
    const uint64_t flush = consumer_.StartFlush().value();
    EXPECT_TRUE(producer_->WaitForFlush());
    EXPECT_TRUE(producer_->AnswerFlushes());
    EXPECT_TRUE(consumer_.WaitFor(flush).value());
    EXPECT_TRUE(consumer_.DisableTracing());
    EXPECT_TRUE(consumer_.WaitUntilDisabled());
    std::string trace;
    EXPECT_TRUE(consumer_.ReadBuffers(trace));
    return trace;
  }
  void End() { EXPECT_TRUE(consumer_.FreeBuffers()); }

 private:
  Consumer consumer_;
  std::unique_ptr<Producer> producer_;
  SharedMemoryWriter* writer_ = nullptr;
  uint64_t time_ = 0;
};

TEST(RecordEnding, FirstSignal_LetsTheSessionEnd_WhoseTraceIsCompared) {
  const TempFolder folder;
  const std::string trace = folder.File("out.pftrace");
  LiveRecord live({"--compare", trace});
  UserSession session(live);
  ASSERT_TRUE(session.Write(100));
  live.Signal(SIGINT);
  ASSERT_TRUE(Eventually([&] { return !live.IsListening() && !Connect(live.consumer_listen()); }));
  ASSERT_TRUE(session.Write(400));  // the buffer wraps
  folder.Write("out.pftrace", session.Read());
  session.End();
  const Ran& ran = live.Wait();
  EXPECT_EQ(ran.code, ExitCode::kClean) << ran.error;
  EXPECT_THAT(WithoutLineBreaks(ran.err),
              AllOf(HasSubstr("recording until the end of 1 session; no more clients "
                              "can connect; a second signal ends it now"),
                    HasSubstr("This recording is exact."), HasSubstr("its replay equals ")));
}

TEST(RecordEnding, Compare_WithATraceThatLacksPackets) {
  const TempFolder folder;
  LiveRecord live({"--compare", folder.File("out.pftrace"), "--format", "json"});
  UserSession session(live);
  ASSERT_TRUE(session.Write(100));
  const std::string trace = session.Read();
  std::string most;  // of its packets
  wire::FieldReader packets(wire::AsBytes(trace));
  for (int i = 0; i < 90; ++i) wire::AppendBytes(most, 1, packets.Next().value().bytes);
  folder.Write("out.pftrace", most);
  session.End();
  live.Signal(SIGINT);
  const Ran& ran = live.Wait();
  EXPECT_EQ(ran.code, ExitCode::kNotice) << ran.err;
  const size_t compared = ran.out.find("\"compared\": {");
  ASSERT_NE(compared, std::string::npos) << ran.out;
  EXPECT_THAT(ran.out.substr(compared), HasSubstr("\"same\": false"));
}

// The buffer wraps: the replay of shapes alone must lose the same packets as the service did.
TEST(RecordEnding, LogWithoutPayloads_HasThePacketsThatTheConsumerGot_AndNotTheirContent) {
  LiveRecord live({"--no-payload"});
  UserSession session(live);
  ASSERT_TRUE(session.Write(250));
  ASSERT_TRUE(session.Write(250));
  const std::string trace = session.Read();
  session.End();
  live.Signal(SIGINT);
  const Ran& ran = live.Wait();
  ASSERT_EQ(ran.code, ExitCode::kClean) << ran.error;

  uint64_t packets = 0, bytes = 0;  // as they were written, without the service's fields
  wire::FieldReader reader(wire::AsBytes(trace));
  while (const auto packet = reader.Next()) {
    uint64_t own_bytes = 0;
    bool is_of_producer = false;
    wire::FieldReader fields(packet->bytes);
    while (const auto field = fields.Next()) {
      is_of_producer |= field->number == kContentField;
      if (field->number == kContentField || field->number == proto::TracePacket::kTimestamp)
        own_bytes += field->whole.size();
    }
    if (!is_of_producer) continue;
    ++packets;
    bytes += own_bytes;
  }
  ASSERT_GT(packets, 0u);
  ASSERT_LT(packets, 500u);
  const auto replayed =
      testing::ParsedJson(RunCommand(ReplayCommand(), {live.log(), "--format", "json"}).out);
  const Json& buffer = replayed["sessions"][0]["buffers"][0];
  EXPECT_EQ(buffer["packets"]["written"], 500);
  EXPECT_EQ(buffer["packets"]["read"], packets);
  EXPECT_EQ(buffer["read"]["bytes"], bytes);

  const Ran dumped = RunCommand(DumpCommand(), {live.log(), "--format", "ops"});
  EXPECT_THAT(dumped.out, HasSubstr("\"op\":\"request\""));
  EXPECT_THAT(dumped.out, Not(HasSubstr("78787878")));  // "xxxx"
}

TEST(RecordEnding, SecondSignal_EndsItNow) {
  LiveRecord live({});
  UserSession session(live);
  ASSERT_TRUE(session.Write(100));
  live.Signal(SIGINT);
  ASSERT_TRUE(Eventually([&] { return !live.IsListening(); }));
  ASSERT_TRUE(session.Write(100));
  live.Signal(SIGTERM);
  const Ran& ran = live.Wait();
  EXPECT_EQ(ran.code, ExitCode::kClean) << ran.error;
  EXPECT_THAT(WithoutLineBreaks(ran.err),
              AllOf(HasSubstr("recording until the end of 1 session"),
                    HasSubstr("the recording's end cut 1 session short"),
                    HasSubstr("This recording is exact.")));
  EXPECT_FALSE(session.Write(1));
}

TEST(RecordEnding, WithoutASession_EndsAtOnce) {
  LiveRecord live({});
  live.Signal(SIGTERM);
  const Ran& ran = live.Wait();
  EXPECT_EQ(ran.code, ExitCode::kClean) << ran.error;
  EXPECT_THAT(ran.err, Not(HasSubstr("until the end")));
}

TEST(RecordEnding, WarningsOfOneKindAboutOneClient_AreLimited) {
  LiveRecord live({});
  for (int i = 0; i < 9; ++i) {
    const UniqueFd client = Connect(live.listen()).value();
    const std::string nonsense("\0\0\0\x10", 4);  // a frame of 256 MiB
    ASSERT_EQ(Send(client.get(), wire::AsBytes(nonsense), {}).bytes, nonsense.size());
    ASSERT_TRUE(Eventually([&] { return IsClosed(client.get()); }));
  }
  live.Signal(SIGINT);
  const Ran& ran = live.Wait();
  EXPECT_EQ(CountOf(ran.err, "announced a frame of 268435456 bytes"), 5u) << ran.err;
  EXPECT_EQ(CountOf(WithoutLineBreaks(ran.err),
                    fmt::format("further warnings about pid {} are not shown", ::getpid())),
            1u);
}

}  // namespace
}  // namespace ringscope::testing
