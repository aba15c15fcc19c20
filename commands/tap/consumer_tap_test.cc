// A consumer and a service that the test plays, with the recorder between them.

#include "commands/tap/consumer_tap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/testing/fake_producer.h"
#include "commands/testing/fake_service.h"
#include "commands/testing/ipc_peer.h"
#include "commands/testing/recorder_run.h"

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// The service's ids of the methods: their places in this list, from 1.
const std::vector<std::string> kMethods = {
    "EnableTracing", "DisableTracing", "ReadBuffers", "FreeBuffers",
    "Flush",         "CloneSession",   "Detach",      "QueryServiceState"};

class ConsumerTapTest : public ::testing::Test {
 protected:
  ConsumerTapTest() {
    consumer_.emplace(ConnectPeer(options_.consumer->listen));
    service_.emplace(AcceptPeer(listener_));
    std::string bind;
    ipc::AppendBind(bind, 1, ipc::kConsumerPort);
    Pass(*consumer_, *service_, bind);
    ipc::BindServiceReply reply{.success = true, .service = 1, .methods = {}};
    for (size_t i = 0; i < kMethods.size(); ++i) reply.methods.push_back({i + 1, kMethods[i]});
    std::string bound;
    ipc::AppendBindReply(bound, 1, reply);
    Pass(*service_, *consumer_, bound);
  }
  /// What one end sends must be what the other receives.
  void Pass(BlockingPeer& from, BlockingPeer& to, const std::string& frame) {
    ASSERT_TRUE(from.Send(frame));
    const auto received = to.Read();
    ASSERT_TRUE(received);
    EXPECT_EQ(received->bytes, frame);
  }
  uint64_t Call(const std::string& method, const std::string& args = "") {
    const auto id = std::ranges::find(kMethods, method) - kMethods.begin() + 1;
    std::string frame;
    ipc::AppendInvoke(
        frame, ++last_request_,
        {.service = 1, .method = static_cast<uint64_t>(id), .args = wire::AsBytes(args)});
    Pass(*consumer_, *service_, frame);
    return last_request_;
  }
  void Reply(uint64_t request, bool success = true, bool has_more = false) {
    std::string frame;
    ipc::AppendInvokeReply(frame, request, {.success = success, .has_more = has_more, .reply = {}});
    Pass(*service_, *consumer_, frame);
  }
  /// Starts a session whose buffer has an id that is known once it is sent to a producer "p".
  void EnableTracing() { Call("EnableTracing", EnableTracingArgs(FillPolicy::kDiscard)); }
  /// Makes a producer "p" that was sent all that there is. @return false: it got no answer
  bool ConnectProducer(bool no_flush = false) {
    producer_.emplace(options_.producer.listen, "p");
    return producer_->Connect(no_flush) && producer_->Sync();
  }
  void Close() {
    consumer_->Close();
    EXPECT_TRUE(service_->ReadToEnd());
    service_->Close();
  }

  FakeService producers_service_{{}};
  record::Listener listener_ = record::Listener::Create(UniqueSocketName("service"), 0600).value();
  MemoryLog log_;
  const record::RecorderOptions options_{
      .producer = {UniqueSocketName("listen"), producers_service_.socket()},
      .consumer = record::PortSockets{UniqueSocketName("listen"), listener_.name()}};
  RecorderRun recorder_{options_, log_};
  std::optional<BlockingPeer> consumer_;
  std::optional<BlockingPeer> service_;
  std::optional<FakeProducer> producer_;
  uint64_t last_request_ = 1;
};

TEST_F(ConsumerTapTest, FreeBuffers_EndsTheSessionAndItsBuffers) {
  EnableTracing();
  ASSERT_TRUE(ConnectProducer());
  EXPECT_THAT(log_.All<BufferSetUp>(),
              ElementsAre(BufferSetUp{BufferId{1}, 0, 65536, FillPolicy::kDiscard, "v2"}));
  EXPECT_THAT(log_.All<BufferFreed>(), IsEmpty());
  Call("FreeBuffers");
  EXPECT_THAT(log_.All<BufferFreed>(), ElementsAre(BufferFreed{BufferId{1}}));
  EXPECT_EQ(log_.All<SessionEnded>().size(), 1u);
  Close();
  recorder_.Stop();
  EXPECT_EQ(log_.All<SessionEnded>().size(), 1u);  // its disconnect adds nothing
}

TEST_F(ConsumerTapTest, Disconnect_EndsTheSession) {
  EnableTracing();
  Close();
  EXPECT_TRUE(log_.WaitFor<SessionEnded>());
}

TEST_F(ConsumerTapTest, Detach_LetsTheSessionGoOn) {
  EnableTracing();
  Call("Detach");
  Close();
  ASSERT_TRUE(ConnectProducer());
  recorder_.Stop();
  EXPECT_EQ(log_.All<BufferSetUp>().size(), 1u);
  EXPECT_THAT(log_.All<BufferFreed>(), IsEmpty());
  EXPECT_THAT(log_.All<SessionEnded>(), IsEmpty());
}

TEST_F(ConsumerTapTest, Flush_IsNoted) {
  EnableTracing();
  Call("Flush");
  EXPECT_THAT(log_.All<Note>(), ElementsAre(Note{"the consumer asked for a flush"}));
}

// Each reply with packets is a pass, whatever number of requests there is.
TEST_F(ConsumerTapTest, ReadBuffers_EachReplyIsAPass) {
  EnableTracing();
  const uint64_t request = Call("ReadBuffers");
  Reply(request, true, /*has_more=*/true);
  Reply(request, true);
  Reply(Call("QueryServiceState"));
  EXPECT_EQ(log_.All<ReadPass>().size(), 2u);
}

// What a consumer reads after it has cloned is the clone.
TEST_F(ConsumerTapTest, CloneSession_ReadsTheCloneOnce) {
  EnableTracing();
  ASSERT_TRUE(ConnectProducer());
  const uint64_t failed = Call("CloneSession");
  EXPECT_THAT(log_.All<CloneRead>(), IsEmpty());  // it is made when the service reports it
  Reply(failed, /*success=*/false);
  EXPECT_THAT(log_.All<CloneRead>(), IsEmpty());
  Reply(Call("CloneSession"));
  EXPECT_THAT(log_.All<CloneRead>(), ElementsAre(CloneRead{BufferId{1}}));
  Reply(Call("ReadBuffers"));
  EXPECT_THAT(log_.All<ReadPass>(), IsEmpty());
  EXPECT_THAT(log_.All<BufferFreed>(), IsEmpty());
}

// Nobody asks this producer to flush: what it holds is looked for when the consumer asks.
TEST_F(ConsumerTapTest, DisableTracing_ScrapesWhoNeverFlushes) {
  EnableTracing();
  ASSERT_TRUE(ConnectProducer(/*no_flush=*/true));
  producer_->RegisterWriter(WriterId{1}, BufferId{1});
  ASSERT_TRUE(producer_->Sync());
  producer_->WriteOpen(0);
  Call("DisableTracing");
  const auto commits = log_.All<Commit>();  // logged before the request was passed on
  ASSERT_EQ(commits.size(), 1u);
  EXPECT_EQ(commits[0].origin, Origin::kScraped);
}

}  // namespace
}  // namespace ringscope::testing
