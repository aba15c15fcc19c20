#include "commands/record/connection_pair.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "commands/record/recorder.h"
#include "commands/testing/ipc_peer.h"
#include "commands/testing/recorder_run.h"

namespace ringscope {
namespace {

TEST(ConnectionPair, ThatCannotBeWatched_IsAnError) {
  const auto loop = EventLoop::Create().value();
  auto sockets = testing::MakeSocketPair();
  UniqueFd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  testing::MemoryLog log;
  RecordingState recording(*loop, log, [](const std::string&, int32_t) {});
  EXPECT_FALSE(ConnectionPair::Create(recording, std::move(sockets.first), std::move(file),
                                      NewConsumerTap(recording, {})));
}

using ipc::MethodName;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr BufferId kBuffer{1};

/// Calls once, after a producer was asked to clear its state.
struct LogWithHook : public testing::MemoryLog {
  void Append(OpBody body) override {
    const bool is_it = std::holds_alternative<StateClearRequested>(body);
    MemoryLog::Append(std::move(body));
    if (const auto call = is_it ? std::exchange(then, nullptr) : nullptr) call();
  }
  std::function<void()> then;
};

/// A recorder between two producers and a service. The test plays them all, and decides when the
/// recorder looks at what has arrived.
class SharedTurn : public ::testing::Test {
 protected:
  struct Request {
    uint64_t id = 0;
    MethodName method{};
    bool drop_reply = false;
  };
  struct Producer {
    FrameSocket client;
    FrameSocket service;
    std::vector<Request> arrived = {};  // at the service
  };

  SharedTurn() {
    recorder_ = Recorder::Create(*loop_, options_, Recorder::Listen(options_).value(), log_,
                                 [](const std::string&, int32_t) {})
                    .value();
    methods_.Learn(ipc::BindReplyWith(1, ipc::kProducerPort));
    for (int i = 0; i < 2; ++i) Connect();
  }

  void Connect() {
    FrameSocket client(ringscope::Connect(options_.producer.listen).value());
    Settle();
    producers_.push_back({std::move(client), FrameSocket(listener_->Accept())});
    Producer& producer = producers_.back();
    std::string bytes;
    ipc::AppendBind(bytes, 1, ipc::kProducerPort);
    Send(producer.client, bytes);
    bytes.clear();
    ipc::AppendBindReply(bytes, 1, ipc::BindReplyWith(1, ipc::kProducerPort));
    Send(producer.service, bytes);
    Settle();
    Call(producer, MethodName::kInitializeConnection, testing::Encode(ipc::InitializeConnection{}));
    Call(producer, MethodName::kRegisterTraceWriter,
         testing::Encode(ipc::RegisterTraceWriter{.writer = 1, .target_buffer = Raw(kBuffer)}));
    AnswerAll();
  }

  void HandleOneRound() {
    const EventLoop::Timer due = loop_->CallSoon([] {});
    bool done = false;
    loop_->RunUntil([&done] { return std::exchange(done, true); });
  }
  /// Lets the recorder handle what has arrived, until it waits for more.
  void Settle() {
    constexpr int kRounds = 8;
    for (bool again = true; std::exchange(again, false);) {
      for (int i = 0; i < kRounds; ++i) HandleOneRound();
      for (size_t i = 0; i < producers_.size(); ++i) again |= Serve(i);
    }
  }
  static void Send(FrameSocket& socket, const std::string& bytes) {
    socket.Queue(wire::AsBytes(bytes));
    socket.SendQueued();
  }
  void Call(Producer& producer, MethodName method, const std::string& args) {
    std::string frame;
    ipc::AppendInvoke(frame, ++last_request_,
                      {.service = 1,
                       .method = *methods_.IdOf(method),
                       .args = wire::AsBytes(args),
                       .drop_reply = method == MethodName::kCommitData});
    Send(producer.client, frame);
  }
  /// Commits a chunk with so many bytes.
  void Commit(size_t producer, size_t bytes = 20, BufferId target = kBuffer) {
    const std::string data(bytes, 'x');
    std::string request;
    CommitRequestBuilder(request).AddChunk(
        {.page = 0, .index = 0, .target_buffer = Raw(target), .data = wire::AsBytes(data)});
    Call(producers_[producer], MethodName::kCommitData, request);
  }
  void CommitFlush(size_t producer, uint64_t flush, std::string request = {}) {
    CommitRequestBuilder(request).SetFlushRequestId(flush);
    Call(producers_[producer], MethodName::kCommitData, request);
  }
  /// Reads what has arrived at the service, which replies to a Sync at once. @return whether it did
  bool Serve(size_t producer) {
    bool replied = false;
    FrameSocket& service = producers_[producer].service;
    EXPECT_TRUE(service.Receive());
    while (const auto frame = service.NextFrame([](const ipc::Frame&) { return false; }).value()) {
      const auto* const invoke = std::get_if<ipc::InvokeMethod>(&frame->frame.body);
      if (invoke == nullptr) continue;
      const Request request{frame->frame.request_id, methods_.Find(*invoke), invoke->drop_reply};
      if (request.method == MethodName::kSync) {
        Reply(producer, request.id);
        replied = true;
      } else {
        producers_[producer].arrived.push_back(request);
      }
    }
    return replied;
  }
  std::vector<Request> Arrived(size_t producer) {
    return std::exchange(producers_[producer].arrived, {});
  }
  void Reply(size_t producer, uint64_t request, const std::string& reply = {}, bool more = false) {
    std::string frame;
    ipc::AppendInvokeReply(frame, request,
                           {.success = true, .has_more = more, .reply = wire::AsBytes(reply)});
    Send(producers_[producer].service, frame);
  }
  /// Lets the service reply to everything, until nothing is under way.
  void AnswerAll() {
    for (bool any = true; std::exchange(any, false);) {
      Settle();
      for (size_t i = 0; i < producers_.size(); ++i)
        for (const Request& request : Arrived(i)) {
          any = true;
          if (!request.drop_reply) Reply(i, request.id);
        }
    }
  }
  /// Expects a commit that is to be replied to. @return its id
  uint64_t ExpectCommit(size_t producer) {
    Settle();
    const std::vector<Request> requests = Arrived(producer);
    EXPECT_EQ(requests.size(), 1u);
    if (requests.size() != 1) return 0;
    EXPECT_EQ(requests[0].method, MethodName::kCommitData);
    EXPECT_FALSE(requests[0].drop_reply);
    return requests[0].id;
  }
  /// The producers of the commits in the log, in its order.
  std::vector<int> Logged() const {
    std::vector<int> producers;
    for (const ringscope::Commit& commit : log_.All<ringscope::Commit>())
      producers.push_back(Raw(commit.producer));
    return producers;
  }

  std::optional<Listener> listener_ =
      Listener::Create(testing::UniqueSocketName("service"), 0600).value();
  const Listener consumers_ = Listener::Create(testing::UniqueSocketName("service"), 0600).value();
  const RecorderOptions options_{
      .producer = {testing::UniqueSocketName("listen"), listener_->name()},
      .consumer = PortSockets{testing::UniqueSocketName("listen"), consumers_.name()},
      .buffers = {{.id = kBuffer, .size = 65536}}};
  LogWithHook log_;
  ipc::MethodTable methods_;
  uint64_t last_request_ = 1;
  std::unique_ptr<EventLoop> loop_ = EventLoop::Create().value();
  std::unique_ptr<Recorder> recorder_;
  std::vector<Producer> producers_;
};

// Whichever is first, and whether or not both replies are there when the recorder looks.
TEST_F(SharedTurn, Commits_AreLoggedInTheOrderOfTheReplies) {
  std::mt19937 random(1);
  std::vector<int> expected;
  for (int i = 0; i < 200; ++i) {
    for (const size_t producer : {0, 1}) Commit(producer);
    const uint64_t ids[] = {ExpectCommit(0), ExpectCommit(1)};
    EXPECT_EQ(Logged(), expected);
    const size_t first = random() % 2;
    const bool looks = random() % 2 == 0;
    for (const size_t producer : {first, 1 - first}) {
      Reply(producer, ids[producer]);
      if (looks) Settle();
      expected.push_back(static_cast<int>(producer) + 1);
    }
    Settle();
    ASSERT_EQ(Logged(), expected);
  }
  EXPECT_THAT(log_.All<Inexact>(), IsEmpty());
}

TEST_F(SharedTurn, CommitsThatArriveMeanwhile_AreOneRequest) {
  Commit(0);
  const uint64_t first = ExpectCommit(0);
  for (const size_t bytes : {30, 40, 50}) Commit(0, bytes);
  Settle();
  EXPECT_THAT(Arrived(0), IsEmpty());
  Reply(0, first);
  Reply(0, ExpectCommit(0));
  Settle();
  std::vector<size_t> sizes;
  for (const ringscope::Commit& commit : log_.All<ringscope::Commit>()) {
    CommitRequestParser parser;
    ASSERT_TRUE(parser.Parse(commit.request));
    for (const ChunkToMove& chunk : parser.chunks()) sizes.push_back(chunk.data->size());
  }
  EXPECT_THAT(sizes, ElementsAre(20, 30, 40, 50));
  EXPECT_EQ(recorder_->counts().chunks, 4u);
}

// The service handles a request's patches after all of its chunks, and the log has them so.
TEST_F(SharedTurn, PatchesThatArriveMeanwhile_AreAfterTheChunks) {
  Commit(0);
  const uint64_t first = ExpectCommit(0);
  std::string patch;
  CommitRequestBuilder(patch).AddPatch({.target_buffer = 1, .writer = 1, .chunk = 0});
  Call(producers_[0], MethodName::kCommitData, patch);
  Commit(0);
  Reply(0, first);
  Reply(0, ExpectCommit(0));
  Settle();
  const auto commits = log_.All<ringscope::Commit>();
  ASSERT_EQ(commits.size(), 2u);
  CommitRequestParser parser;
  ASSERT_TRUE(parser.Parse(commits[1].request));
  EXPECT_EQ(parser.chunks().size(), 1u);
  EXPECT_EQ(parser.patches().size(), 1u);
}

// An acknowledgement makes the service scrape and clone: all that is under way is handled before.
TEST_F(SharedTurn, FlushAcknowledgement_WaitsForOthers) {
  Commit(0);
  const uint64_t under_way = ExpectCommit(0);
  CommitFlush(1, 7);
  Settle();
  EXPECT_THAT(Arrived(1), IsEmpty());
  Commit(0);  // and those that follow wait for it
  Reply(0, under_way);
  Settle();
  EXPECT_EQ(Arrived(1).size(), 1u);
  EXPECT_EQ(Arrived(0).size(), 1u);
  std::vector<std::string> order;
  for (const Op& op : log_.ops()) {
    if (std::holds_alternative<ringscope::Commit>(op.body)) order.push_back("commit");
    if (std::holds_alternative<FlushAcknowledged>(op.body)) order.push_back("flush");
  }
  EXPECT_THAT(order, ElementsAre("commit", "flush"));
}

// A command of the service makes a socket readable before the reply does.
TEST_F(SharedTurn, ReplyAfterACommand_MarksTheOrder) {
  for (const bool looks : {true, false}) {
    Call(producers_[0], MethodName::kGetAsyncCommand, {});
    Settle();
    const uint64_t commands = Arrived(0).at(0).id;
    for (const size_t producer : {0, 1}) Commit(producer);
    const uint64_t ids[] = {ExpectCommit(0), ExpectCommit(1)};
    Reply(0, commands, testing::Encode(ipc::AsyncCommand{}), /*more=*/true);
    if (looks) Settle();
    for (const size_t producer : {1, 0}) Reply(producer, ids[producer]);
    Settle();
    EXPECT_EQ(log_.All<Inexact>().size(), looks ? 0u : 1u);
    if (looks) {
      EXPECT_THAT(Logged(), ElementsAre(2, 1));
    }
  }
  EXPECT_EQ(log_.All<Inexact>()[0].reason, InexactReason::kOrder);
}

// The reply to a commit that arrives while a command is handled is taken with it. The place of the
// next one is its own.
TEST_F(SharedTurn, ReplyThatWasTakenEarly_LeavesTheNextInOrder) {
  Call(producers_[0], MethodName::kGetAsyncCommand, {});
  Settle();
  const uint64_t commands = Arrived(0).at(0).id;
  for (const size_t producer : {0, 1}) Commit(producer);
  const uint64_t ids[] = {ExpectCommit(0), ExpectCommit(1)};
  Commit(0);
  Settle();
  log_.then = [&] { Reply(0, ids[0]); };
  Reply(0, commands,
        testing::Encode(ipc::AsyncCommand{.clear_state = ipc::ClearIncrementalState{}}),
        /*more=*/true);
  HandleOneRound();
  Serve(0);
  const uint64_t next = Arrived(0).at(0).id;
  Reply(1, ids[1]);
  Reply(0, next);
  Settle();
  EXPECT_THAT(Logged(), ElementsAre(1, 2, 1));
  EXPECT_THAT(log_.All<Inexact>(), IsEmpty());
}

// The reply to a commit that arrives while a second command is handled is not taken after what the
// service sends next. That it was first is not known, and marked.
TEST_F(SharedTurn, ReplyThatArrivesAfterTwoCommands_IsNotLate) {
  Call(producers_[0], MethodName::kGetAsyncCommand, {});
  Settle();
  const uint64_t commands = Arrived(0).at(0).id;
  for (const size_t producer : {0, 1}) Commit(producer);
  const uint64_t ids[] = {ExpectCommit(0), ExpectCommit(1)};
  const std::string command =
      testing::Encode(ipc::AsyncCommand{.clear_state = ipc::ClearIncrementalState{}});
  log_.then = [&] {
    log_.then = [&] {
      for (const size_t producer : {0, 1}) Reply(producer, ids[producer]);
    };
    Reply(0, commands, command, /*more=*/true);
  };
  Reply(0, commands, command, /*more=*/true);
  Settle();
  EXPECT_THAT(Logged(), ElementsAre(1, 2));
  EXPECT_EQ(log_.All<Inexact>().size(), 1u);
}

// The service may read for a file between a commit and a request after it: what must be handled
// first is confirmed by its own reply.
TEST_F(SharedTurn, CommitBeforeAnAcknowledgement_IsConfirmedByItsOwnReply) {
  std::string chunk;
  CommitRequestBuilder(chunk).AddChunk(
      {.page = 0, .index = 0, .target_buffer = Raw(kBuffer), .data = wire::AsBytes("12345678")});
  CommitFlush(0, 7, chunk);
  const uint64_t commit = ExpectCommit(0);
  EXPECT_THAT(Logged(), IsEmpty());
  Reply(0, commit);
  Settle();
  EXPECT_THAT(Logged(), ElementsAre(1));
  EXPECT_EQ(Arrived(0).size(), 1u);  // the acknowledgement
}

TEST_F(SharedTurn, LargeCommit_IsConfirmedByItsOwnReply) {
  Commit(0, 5000);
  Commit(0, 5000);
  for (int commits = 0; commits < 2; ++commits) {
    const uint64_t commit = ExpectCommit(0);
    EXPECT_EQ(Logged().size(), static_cast<size_t>(commits));
    Reply(0, commit);
  }
  Settle();
  EXPECT_THAT(Logged(), ElementsAre(1, 1));
}

/// A consumer between whose passes the service handles commits of the first producer.
class ReadOfASession : public SharedTurn {
 protected:
  static constexpr BufferId kOfSession{2};

  ReadOfASession() : client_(ringscope::Connect(options_.consumer->listen).value()) {
    Settle();
    service_.emplace(consumers_.Accept());
    const ipc::BindServiceReply bound = ipc::BindReplyWith(1, ipc::kConsumerPort);
    table_.Learn(bound);
    std::string bytes;
    ipc::AppendBind(bytes, 1, ipc::kConsumerPort);
    Send(client_, bytes);
    bytes.clear();
    ipc::AppendBindReply(bytes, 1, bound);
    Send(*service_, bytes);
    const uint64_t session =
        Ask(MethodName::kEnableTracing, testing::EnableTracingArgs(FillPolicy::kDiscard));
    Call(producers_[0], MethodName::kGetAsyncCommand, {});
    Settle();
    ipc::AsyncCommand command;
    command.set_up = {.instance = 1,
                      .config = {.name = "source.p", .target_buffer = Raw(kOfSession)}};
    Reply(0, Arrived(0).at(0).id, testing::Encode(command), /*more=*/true);
    Settle();
    // What has stopped is read while others commit.
    Send(*service_, ReplyTo(session, /*more=*/false));
    Settle();
  }
  static std::string ReplyTo(uint64_t request, bool more) {
    std::string frame;
    ipc::AppendInvokeReply(frame, request, {.success = true, .has_more = more, .reply = {}});
    return frame;
  }
  uint64_t Ask(MethodName method, const std::string& args) {
    std::string bytes;
    ipc::AppendInvoke(bytes, ++last_request_,
                      {.service = 1, .method = *table_.IdOf(method), .args = wire::AsBytes(args)});
    Send(client_, bytes);
    AnswerRecorder();
    return last_request_;
  }
  /// Lets the service reply to what the recorder asks.
  void AnswerRecorder() {
    Settle();
    EXPECT_TRUE(service_->Receive());
    while (const auto frame = service_->NextFrame([](const ipc::Frame&) { return false; }).value())
      if (frame->frame.request_id >= testing::kFirstOfRecorder)
        Send(*service_, ReplyTo(frame->frame.request_id, /*more=*/false));
    Settle();
  }

  FrameSocket client_;
  std::optional<FrameSocket> service_;
  ipc::MethodTable table_;
};

TEST_F(ReadOfASession, PassOfUnknownPlace_MarksTheOrder) {
  const uint64_t read = Ask(MethodName::kReadBuffers, {});
  const std::string pass = ReplyTo(read, /*more=*/true);
  for (const bool together : {false, true}) {
    Commit(0, 20, kOfSession);
    AnswerRecorder();
    const uint64_t commit = ExpectCommit(0);
    Send(*service_, pass);
    if (!together) Settle();
    Send(*service_, pass);  // before the reply to the commit, or after it
    Reply(0, commit);
    Settle();
    EXPECT_EQ(log_.All<Inexact>().size(), together ? 1u : 0u);
  }
  EXPECT_EQ(log_.All<ReadPass>().size(), 4u);
}

// A service that is killed closes its connections in any order, and has refused nothing.
TEST_F(ReadOfASession, ServiceThatEnds_EndsTheSessionAfterTheLastCommits) {
  Commit(0, 20, kOfSession);
  ExpectCommit(0);
  listener_.reset();
  service_.reset();
  Settle();
  for (Producer& producer : producers_) producer.service = FrameSocket(UniqueFd());
  Settle();
  std::vector<std::string> order;
  for (const Op& op : log_.ops()) {
    if (std::holds_alternative<ringscope::Commit>(op.body)) order.push_back("commit");
    if (std::holds_alternative<SessionEnded>(op.body)) order.push_back("end");
    if (std::holds_alternative<ServiceChanged>(op.body)) order.push_back("service");
  }
  EXPECT_THAT(order, ElementsAre("commit", "end", "service"));
}

// Its last commit was sent; that the service has handled it is not known.
TEST_F(SharedTurn, ServiceThatGoes_LeavesTheCommitInTheLog) {
  Commit(0);
  ExpectCommit(0);
  producers_.erase(producers_.begin());
  Settle();
  EXPECT_THAT(Logged(), ElementsAre(1));
}

// The connection's end is reported with the last reply, and not again.
TEST_F(SharedTurn, ServiceThatEndsBehindItsReply_IsNoticed) {
  Commit(0);
  Reply(0, ExpectCommit(0));
  ::shutdown(producers_[0].service.fd(), SHUT_WR);
  Settle();
  EXPECT_THAT(Logged(), ElementsAre(1));
  std::array<uint8_t, 4096> bytes;
  IoState state = IoState::kDone;
  while (state == IoState::kDone || state == IoState::kDoneAll)
    state = Receive(producers_[0].client.fd(), bytes).state;
  EXPECT_EQ(state, IoState::kClosed);
}

}  // namespace
}  // namespace ringscope
