// What peers do wrong, or slowly, through the recorder.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>

#include "commands/testing/fake_producer.h"
#include "commands/testing/fake_service.h"
#include "commands/testing/recorder_run.h"

namespace {

/// Whether accept4 fails, as in a program that has all descriptors that it may have.
std::atomic<bool> no_descriptor_is_left = false;

}  // namespace

// In place of the system's, for all tests.
extern "C" int accept4(int fd, sockaddr* address, socklen_t* size, int flags) {
  if (no_descriptor_is_left) {
    errno = EMFILE;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_accept4, fd, address, size, flags));
}

namespace ringscope::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr BufferId kOnlyBuffer{1};

/// A recorder between a service that works and its producers.
class BadProducer : public ::testing::Test {
 protected:
  /// Sends bytes in place of a frame. The connection must end, and no other.
  void ExpectEndOnly(const std::string& bytes, const std::string& warning) {
    FakeProducer good(options_.producer.listen, "good");
    FakeProducer bad(options_.producer.listen, "bad");
    ASSERT_TRUE(good.Connect());
    ASSERT_TRUE(bad.Connect());
    bad.peer().Send(bytes);
    EXPECT_FALSE(bad.Sync());
    service_.WaitForEnds(1);
    EXPECT_TRUE(good.Sync());
    EXPECT_THAT(recorder_.warnings(), ElementsAre(HasSubstr(warning)));
    EXPECT_THAT(recorder_.warnings(), ElementsAre(HasSubstr("(bad, pid ")));
    ASSERT_TRUE(log_.WaitFor<ProducerDisconnected>());
    EXPECT_EQ(log_.All<ProducerDisconnected>().front().producer, ProducerId{2});
  }
  static std::string Invoke(uint64_t method, const std::string& args) {
    std::string frame;
    ipc::AppendInvoke(
        frame, 1000,
        {.service = 1, .method = method, .args = wire::AsBytes(args), .drop_reply = true});
    return frame;
  }
  static std::string Invoke(ipc::MethodName method, const std::string& args) {
    ipc::MethodTable methods;
    methods.Learn(ipc::BindReplyWith(1, ipc::kProducerPort));
    return Invoke(*methods.IdOf(method), args);
  }

  FakeService service_{{.tracing = {.traces_all = true}}};
  MemoryLog log_;
  const RecorderOptions options_{
      .producer = {UniqueSocketName("listen"), service_.producer_socket()},
      .buffers = {{.id = kOnlyBuffer, .size = 65536}}};
  RecorderRun recorder_{options_, log_};
};

TEST_F(BadProducer, FrameTooLarge) {
  ExpectEndOnly(std::string("\0\0\0\x10", 4), "announced a frame of 268435456 bytes");
}
TEST_F(BadProducer, FrameOfNonsense) {
  ExpectEndOnly(std::string("\4\0\0\0\xff\xff\xff\xff", 8), "not well-formed");
}
TEST_F(BadProducer, CommitOfNonsense) {
  ExpectEndOnly(Invoke(ipc::MethodName::kCommitData, "\x0a\x7f"),
                "sent a commit that is not well-formed");
}
TEST_F(BadProducer, WriterOfNonsense) {
  ExpectEndOnly(Invoke(ipc::MethodName::kRegisterTraceWriter, "\x08"), "cannot be parsed");
}
// What would abort the service does not reach it.
TEST_F(BadProducer, ChunkWithoutData) {
  std::string request;
  CommitRequestBuilder(request).AddChunk(
      {.page = 0, .index = 0, .target_buffer = 1, .data = Bytes(), .incomplete = false});
  ExpectEndOnly(Invoke(ipc::MethodName::kCommitData, request), "sent a chunk of 0 bytes");
  EXPECT_THAT(service_.effects(), Each(HasSubstr(": disconnect")));
}

// Nor does what was sent together with it.
TEST_F(BadProducer, WhatFollowsGarbage_IsDropped) {
  ExpectEndOnly(Invoke(ipc::MethodName::kRegisterTraceWriter, "\x08") +
                    Invoke(ipc::MethodName::kCommitData, "\x18\x05"),
                "cannot be parsed");
  EXPECT_THAT(service_.effects(), Each(HasSubstr(": disconnect")));
}

TEST_F(BadProducer, UnknownMethodsAndFields_PassOn) {
  FakeProducer producer(options_.producer.listen, "p");
  ASSERT_TRUE(producer.Connect());
  const std::string unknown = Invoke(55, "a message of a newer producer");
  producer.peer().Send(unknown);
  ASSERT_TRUE(producer.Sync());
  producer.peer().Close();
  EXPECT_THAT(service_.WaitForEnds(1).at("p").received, HasSubstr(unknown));
  EXPECT_THAT(recorder_.warnings(), IsEmpty());
}

/// A recorder between a service and a client that the test plays itself.
class Peers : public ::testing::Test {
 protected:
  Peers() {
    client_.emplace(ConnectPeer(options_.producer.listen));
    service_.emplace(AcceptPeer(listener_));
  }
  /// Sends from one end, and expects it at the other.
  ReceivedFrame Pass(BlockingPeer& from, BlockingPeer& to, const std::string& frame, int fd = -1) {
    EXPECT_TRUE(from.Send(frame, fd));
    auto received = to.Read();
    EXPECT_TRUE(received);
    return received ? std::move(*received) : ReceivedFrame();
  }
  /// Binds, and initializes with shared memory of the producer's own, if there is any.
  void Initialize(const TestMemory* memory, const ipc::InitializeConnectionReply& answer) {
    std::string bind;
    ipc::AppendBind(bind, 1, ipc::kProducerPort);
    Pass(*client_, *service_, bind);
    std::string bound;
    ipc::AppendBindReply(
        bound, 1,
        {.success = true,
         .service = 1,
         .methods = {{1, "InitializeConnection"}, {2, "CommitData"}, {3, "GetAsyncCommand"}}});
    Pass(*service_, *client_, bound);
    ipc::InitializeConnection init;
    init.producer_name = "p";
    init.provides_shared_memory = memory != nullptr;
    const std::string args = Encode(init);
    std::string frame;
    ipc::AppendInvoke(frame, 2, {.service = 1, .method = 1, .args = wire::AsBytes(args)});
    const auto passed = Pass(*client_, *service_, frame, memory != nullptr ? memory->fd() : -1);
    EXPECT_EQ(passed.fds.size(), memory != nullptr ? 1u : 0u);
    const std::string reply = Encode(answer);
    std::string replied;
    ipc::AppendInvokeReply(replied, 2, {.success = true, .reply = wire::AsBytes(reply)});
    Pass(*service_, *client_, replied);
  }
  std::string CommitFrame(const std::string& request) {
    std::string frame;
    ipc::AppendInvoke(
        frame, 9, {.service = 1, .method = 2, .args = wire::AsBytes(request), .drop_reply = true});
    return frame;
  }

  Listener listener_ = Listener::Create(UniqueSocketName("service"), 0600).value();
  MemoryLog log_;
  const RecorderOptions options_{.producer = {UniqueSocketName("listen"), listener_.name()}};
  RecorderRun recorder_{options_, log_};
  std::optional<BlockingPeer> client_;
  std::optional<BlockingPeer> service_;
};

TEST_F(Peers, MemoryOfTheProducersOwn_IsReadAndPassedOn) {
  const TestMemory memory(2 * TestMemory::kPage, true);
  Initialize(&memory, {.uses_provided_shared_memory = true});
  memory.bitmap(1).store(OneChunk(smb::ChunkState::kComplete));
  std::string request;
  FakeProducer::AddChunk(request, 1, kOnlyBuffer);
  Pass(*client_, *service_, CommitFrame(request));
  const std::vector<SharedMemorySetUp> expected = {{ProducerId{1}, 2 * 4096, 4096}};
  EXPECT_EQ(log_.All<SharedMemorySetUp>(), expected);
  ASSERT_TRUE(log_.WaitFor<Commit>());
  EXPECT_EQ(log_.All<Commit>().front().origin, Origin::kShm);
}

TEST_F(Peers, EmulatedMemory_TravelsInline) {
  Initialize(nullptr, {.use_emulation = true});
  const std::string data(100, 'x');
  std::string request;
  CommitRequestBuilder(request).AddChunk(
      {.page = 0, .index = 0, .target_buffer = 1, .data = wire::AsBytes(data), .incomplete = true});
  Pass(*client_, *service_, CommitFrame(request));
  EXPECT_EQ(log_.All<SharedMemorySetUp>(), (std::vector<SharedMemorySetUp>{{ProducerId{1}, 0, 0}}));
  ASSERT_EQ(log_.All<Commit>().size(), 1u);
  EXPECT_EQ(log_.All<Commit>().front().origin, Origin::kInline);
  EXPECT_TRUE(std::ranges::equal(log_.All<Commit>().front().request, wire::AsBytes(request)));
}

TEST_F(Peers, MemoryThatShrinks_HarmsNobody) {
  const TestMemory memory(4 * TestMemory::kPage, /*sealed=*/false);
  Initialize(&memory, {.uses_provided_shared_memory = true});
  memory.bitmap(0).store(OneChunk(smb::ChunkState::kComplete));
  ASSERT_EQ(::ftruncate(memory.fd(), TestMemory::kPage), 0);
  std::string request;
  for (const size_t page : {size_t{3}, size_t{0}})
    FakeProducer::AddChunk(request, page, kOnlyBuffer);
  CommitRequestBuilder(request).SetFlushRequestId(1);  // and so a look at all of it
  Pass(*client_, *service_, CommitFrame(request));
  const auto commits = log_.All<Commit>();
  ASSERT_EQ(commits.size(), 1u);
  CommitRequestParser parser;
  ASSERT_TRUE(parser.Parse(commits[0].request));
  EXPECT_FALSE(parser.chunks()[0].data);
  EXPECT_TRUE(parser.chunks()[1].data);
}

TEST_F(Peers, DescriptorOfNonsense_EndsTheConnection) {
  Initialize(nullptr, {});
  ipc::InitializeConnection init;
  init.provides_shared_memory = true;
  const std::string args = Encode(init);
  std::string frame;
  ipc::AppendInvoke(frame, 3, {.service = 1, .method = 1, .args = wire::AsBytes(args)});
  client_->Send(frame, client_->fd());  // a socket
  EXPECT_EQ(service_->Read(), std::nullopt);
  service_->Close();
  EXPECT_EQ(client_->Read(), std::nullopt);
  EXPECT_THAT(recorder_.warnings(), ElementsAre(HasSubstr("sent shared memory of 0 bytes")));
}

TEST_F(Peers, Garbage_OfTheService_EndsTheConnection) {
  Initialize(nullptr, {});
  service_->Send(std::string("\xff\xff\xff\xff", 4));
  EXPECT_EQ(service_->Read(), std::nullopt);
  service_->Close();
  EXPECT_EQ(client_->Read(), std::nullopt);
  EXPECT_THAT(recorder_.warnings(), ElementsAre(HasSubstr("the service announced a frame")));
}

TEST_F(Peers, ServiceThatDies_TakesItsClientAlong) {
  Initialize(nullptr, {});
  const std::string last = CommitFrame("");
  service_->Send(last);  // arrives all the same
  service_->Close();
  const auto frame = client_->Read();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->bytes, last);
  EXPECT_EQ(client_->Read(), std::nullopt);
  EXPECT_TRUE(log_.WaitFor<ProducerDisconnected>());
}

TEST_F(Peers, WhatAClientSentBeforeItDied_Arrives) {
  Initialize(nullptr, {});
  std::string sent;
  for (int i = 0; i < 200; ++i) sent += CommitFrame(std::string("\x18\x01"));
  client_->Send(sent);
  client_->Close();
  EXPECT_TRUE(service_->ReadToEnd());
  EXPECT_TRUE(service_->received().ends_with(sent));
}

// The service drops a peer that does not take what it is sent: the recorder takes it all.
TEST_F(Peers, ServiceIsNeverKeptWaitingForAClient) {
  Initialize(nullptr, {});
  std::string all;
  for (int i = 0; i < 100; ++i) {
    std::string frame;
    const std::string reply(100'000, static_cast<char>('a' + i % 26));
    ipc::AppendInvokeReply(frame, 500, {.success = true, .reply = wire::AsBytes(reply)});
    ASSERT_TRUE(service_->Send(frame));  // the client reads nothing meanwhile
    all += frame;
  }
  service_->Close();
  EXPECT_TRUE(client_->ReadToEnd());
  EXPECT_TRUE(client_->received().ends_with(all));
}

// A client, in return, is kept waiting for the service: the recorder does not hoard what it sends.
TEST_F(Peers, ClientWaitsForASlowService) {
  Initialize(nullptr, {});
  const std::string frame =
      CommitFrame(std::string(100'000, '\0').replace(0, 4, "\x22\x9c\x8d\x06"));
  std::string all;
  size_t taken = 0;
  while (true) {
    const Sent sent = Send(client_->fd(), wire::AsBytes(frame), {});
    if (sent.state == IoState::kWouldBlock && taken > 0) break;
    ASSERT_NE(sent.state, IoState::kClosed);
    all += frame.substr(0, sent.bytes);
    taken += sent.bytes;
    ASSERT_LT(taken, size_t{64} << 20);
    if (sent.bytes < frame.size()) break;
  }
  client_->Close();
  EXPECT_TRUE(service_->ReadToEnd());
  EXPECT_TRUE(service_->received().ends_with(all));
}

TEST(Recorder, WithoutAService_DoesNotListen) {
  MemoryLog log;
  const std::string name = UniqueSocketName("service");
  const RecorderOptions options{.producer = {UniqueSocketName("listen"), name},
                                .buffers = {{.id = kOnlyBuffer, .size = 65536}}};
  RecorderRun recorder(options, log);
  FakeProducer early(options.producer.listen, "early");
  ASSERT_TRUE(log.WaitFor<ServiceChanged>());
  EXPECT_FALSE(log.All<ServiceChanged>().front().running);
  EXPECT_EQ(Connect(options.producer.listen).error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(early.Connect());  // refused, as without a recorder
  FakeService service({.producer_socket = name, .tracing = {.traces_all = true}});
  ASSERT_TRUE(log.WaitFor<ServiceChanged>(2));
  EXPECT_TRUE(log.All<ServiceChanged>().back().running);
  FakeProducer late(options.producer.listen, "late");
  EXPECT_TRUE(late.Connect());
  EXPECT_THAT(recorder.warnings(),
              ElementsAre(HasSubstr("does not run: clients can connect when it is back"),
                          ::testing::EndsWith("runs")));
}

// Its buffers are gone, and what it numbers begins again.
TEST(Recorder, ServiceThatRestarts_EndsWhatItHad) {
  MemoryLog log;
  const std::string name = UniqueSocketName("service");
  const RecorderOptions options{.producer = {UniqueSocketName("listen"), name},
                                .buffers = {{.id = kOnlyBuffer, .size = 65536}}};
  const FakeServiceOptions options_of_service{.producer_socket = name,
                                              .tracing = {.traces_all = true}};
  std::optional<FakeService> service;
  service.emplace(options_of_service);
  RecorderRun recorder(options, log);
  FakeProducer before(options.producer.listen, "before");
  ASSERT_TRUE(before.Connect());
  before.RegisterWriter(WriterId{1}, kOnlyBuffer);
  ASSERT_TRUE(before.Sync());
  service.reset();
  EXPECT_FALSE(before.Sync());
  ASSERT_TRUE(log.WaitFor<ServiceChanged>());
  EXPECT_THAT(log.All<BufferFreed>(), ElementsAre(BufferFreed{kOnlyBuffer}));
  EXPECT_EQ(log.All<ProducerDisconnected>().size(), 1u);
  service.emplace(options_of_service);
  ASSERT_TRUE(log.WaitFor<ServiceChanged>(2));
  FakeProducer after(options.producer.listen, "after");
  ASSERT_TRUE(after.Connect());
  EXPECT_EQ(log.All<BufferSetUp>().size(), 2u);
  std::vector<std::string> order;
  for (const Op& op : log.ops()) {
    if (std::holds_alternative<BufferFreed>(op.body)) order.push_back("freed");
    if (std::holds_alternative<ProducerDisconnected>(op.body)) order.push_back("disconnected");
    if (const auto* change = std::get_if<ServiceChanged>(&op.body))
      order.push_back(change->running ? "running" : "ended");
  }
  EXPECT_EQ(order, (std::vector<std::string>{"disconnected", "freed", "ended", "running"}));
}

// No client can be accepted because no descriptors are left; the recorder is stopped while it
// waits.
TEST(Recorder, Stop_WhileItWaitsForDescriptors) {
  MemoryLog log;
  const RecorderOptions options{
      .producer = {UniqueSocketName("listen"), UniqueSocketName("nobody")}};
  const auto loop = EventLoop::Create().value();
  std::vector<std::string> warnings;
  const auto recorder =
      Recorder::Create(*loop, options, Recorder::Listen(options).value(), log,
                       [&](const std::string& text, int32_t) { warnings.push_back(text); })
          .value();
  BlockingPeer client = ConnectPeer(options.producer.listen);
  no_descriptor_is_left = true;
  loop->RunUntil([&] { return !warnings.empty(); });
  no_descriptor_is_left = false;
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("cannot accept another client")));
  recorder->Stop();
  bool over = false;
  const auto end = loop->CallAfter(std::chrono::milliseconds(200), [&] { over = true; });
  loop->RunUntil([&] { return over; });
  EXPECT_TRUE(recorder->stopped());
}

TEST(Recorder, Stop_LetsTheServiceGetTheLastScrape) {
  FakeService service({.tracing = {.traces_all = true}});
  MemoryLog log;
  const RecorderOptions options{
      .producer = {UniqueSocketName("listen"), service.producer_socket()}};
  RecorderRun recorder(options, log);
  FakeProducer producer(options.producer.listen, "p");
  ASSERT_TRUE(producer.Connect());
  producer.RegisterWriter(WriterId{1}, kOnlyBuffer);
  ASSERT_TRUE(producer.Sync());
  producer.WriteOpen(0);
  recorder.Stop();
  service.WaitForEnds(1);
  EXPECT_THAT(service.effects(),
              ElementsAre(HasSubstr("p: chunk to 1 w1 c0 n2 f0 incomplete"), "p: disconnect"));
  EXPECT_FALSE(producer.Sync());
}

}  // namespace
}  // namespace ringscope::testing
