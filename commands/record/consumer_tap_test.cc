// A consumer and a service that the test plays, with the recorder between them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <mutex>
#include <thread>

#include "commands/record/tap.h"
#include "commands/testing/fake_producer.h"
#include "commands/testing/fake_service.h"
#include "commands/testing/ipc_peer.h"
#include "commands/testing/recorder_run.h"
#include "commands/testing/service_end.h"
#include "core/perfetto/fields.h"

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The service's ids of the methods: their places in this list, from 1.
const std::vector<std::string> kMethods = {
    "EnableTracing", "DisableTracing", "ReadBuffers",  "FreeBuffers",
    "Flush",         "CloneSession",   "Detach",       "QueryServiceState",
    "StartTracing",  "Attach",         "ObserveEvents"};

class ConsumerTapTest : public ::testing::Test {
 protected:
  explicit ConsumerTapTest(std::chrono::milliseconds longest_wait = RecorderOptions().longest_wait)
      : longest_wait_(longest_wait) {
    consumer_.emplace(ConnectPeer(options_.consumer->listen));
    service_.emplace(AcceptPeer(listener_), [this](const ipc::InvokeMethod&) {
      const std::lock_guard lock(answering_);
      return std::string();
    });
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
  template <typename From, typename To>
  void Pass(From& from, To& to, const std::string& frame) {
    ASSERT_TRUE(from.Send(frame));
    const auto received = to.Read();
    ASSERT_TRUE(received);
    EXPECT_EQ(received->bytes, frame);
  }
  uint64_t Call(const std::string& method, const std::string& args = "") {
    Pass(*consumer_, *service_, Request(method, args));
    return last_request_;
  }
  std::string Request(const std::string& method, const std::string& args = "") {
    const auto id = std::ranges::find(kMethods, method) - kMethods.begin() + 1;
    std::string frame;
    ipc::AppendInvoke(
        frame, ++last_request_,
        {.service = 1, .method = static_cast<uint64_t>(id), .args = wire::AsBytes(args)});
    return frame;
  }
  void Reply(uint64_t request, bool success = true, bool has_more = false,
             const std::string& content = "") {
    std::string frame;
    ipc::AppendInvokeReply(
        frame, request,
        {.success = success, .has_more = has_more, .reply = wire::AsBytes(content)});
    Pass(*service_, *consumer_, frame);
  }
  /// The changes of the session so far: "started", "refused: why".
  std::vector<std::string> Changes() const {
    std::vector<std::string> changes;
    for (const SessionChanged& change : log_.All<SessionChanged>())
      changes.push_back(std::string(Name(change.change)) +
                        (change.detail.empty() ? "" : ": " + change.detail));
    return changes;
  }
  static std::string ArgsOf(const ipc::TraceConfig& config) {
    std::string args;
    wire::AppendBytes(args, 1, wire::AsBytes(Encode(config)));
    return args;
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

  const std::chrono::milliseconds longest_wait_;
  FakeService producers_service_{{.tracing = {.traces_all = true}}};
  Listener listener_ = Listener::Create(UniqueSocketName("service"), 0600).value();
  MemoryLog log_;
  const RecorderOptions options_{
      .producer = {UniqueSocketName("listen"), producers_service_.producer_socket()},
      .consumer = PortSockets{UniqueSocketName("listen"), listener_.name()},
      .longest_wait = longest_wait_};
  RecorderRun recorder_{options_, log_};
  std::optional<BlockingPeer> consumer_;
  std::mutex answering_;  // locked: what the recorder asks by itself waits for its answer
  std::optional<ServiceEnd> service_;
  std::optional<FakeProducer> producer_;
  uint64_t last_request_ = 1;
};

TEST_F(ConsumerTapTest, FreeBuffers_EndsTheSessionAndItsBuffers) {
  EnableTracing();
  ASSERT_TRUE(ConnectProducer());
  EXPECT_THAT(log_.All<BufferSetUp>(),
              ElementsAre(BufferSetUp{BufferId{1}, 0, 65536, FillPolicy::kDiscard, "v2", 1}));
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

TEST_F(ConsumerTapTest, Session_FromEnableTracingToFreeBuffers) {
  const uint64_t session = Call("EnableTracing", EnableTracingArgs(FillPolicy::kDiscard));
  EXPECT_THAT(log_.All<SessionStarted>(), ElementsAre(SessionStarted{1, ""}));
  const auto configs = log_.All<TraceConfigRecord>();
  ASSERT_EQ(configs.size(), 1u);
  EXPECT_EQ(configs[0].session, 1u);
  ASSERT_TRUE(ConnectProducer());
  Call("DisableTracing");
  Reply(session, true, false, Encode(ipc::EnableTracingReply{.disabled = true, .error = {}}));
  EXPECT_THAT(Changes(), ElementsAre("started", "stop_requested: DisableTracing", "stopped"));
  EXPECT_THAT(log_.All<SessionEnded>(), IsEmpty());  // its buffers are still there
  Call("FreeBuffers");
  EXPECT_THAT(log_.All<SessionEnded>(), ElementsAre(SessionEnded{1}));
}

TEST_F(ConsumerTapTest, EnableTracing_Refused) {
  const uint64_t session = Call("EnableTracing", EnableTracingArgs(FillPolicy::kDiscard));
  Reply(session, true, false,
        Encode(ipc::EnableTracingReply{.disabled = true, .error = "too many sessions"}));
  EXPECT_THAT(Changes(), ElementsAre("started", "refused: too many sessions"));
  EXPECT_EQ(log_.All<SessionEnded>().size(), 1u);
}

TEST_F(ConsumerTapTest, DeferredStart_StartsWhenItIsAsked) {
  ipc::TraceConfig config;
  config.buffers.push_back({.size_kb = 64});
  config.deferred_start = true;
  config.unique_session_name = "later";
  Call("EnableTracing", ArgsOf(config));
  EXPECT_THAT(log_.All<SessionStarted>(), ElementsAre(SessionStarted{1, "later"}));
  EXPECT_THAT(Changes(), IsEmpty());
  Call("StartTracing");
  EXPECT_THAT(Changes(), ElementsAre("started"));
}

// With a trigger that starts the session, its data sources' start shows that it was activated.
TEST_F(ConsumerTapTest, StartTrigger_StartsWithTheFirstDataSource) {
  ipc::TraceConfig config;
  config.buffers.push_back({.size_kb = 64});
  config.data_sources.push_back({{.name = "source.p"}});
  config.triggers.mode = ipc::kTriggerModeStart;
  Call("EnableTracing", ArgsOf(config));
  EXPECT_THAT(Changes(), IsEmpty());
  ASSERT_TRUE(ConnectProducer());
  EXPECT_THAT(Changes(), ElementsAre("started"));
}

TEST_F(ConsumerTapTest, File_IsNamedByItsDescriptor) {
  const UniqueFd file(::memfd_create("trace", MFD_CLOEXEC));
  std::string frame;
  const std::string args = EnableTracingArgs(FillPolicy::kDiscard);
  ipc::AppendInvoke(frame, ++last_request_,
                    {.service = 1, .method = 1, .args = wire::AsBytes(args)});
  ASSERT_TRUE(consumer_->Send(frame, file.get()));
  ASSERT_TRUE(service_->Read());
  const auto changes = Changes();
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_THAT(changes[0], ::testing::StartsWith("file_named: /memfd:trace"));
  EXPECT_TRUE(log_.All<Inexact>().empty());  // its reads show as it grows
}

TEST_F(ConsumerTapTest, File_IsNamedByTheConfig) {
  ipc::TraceConfig config;
  config.buffers.push_back({.size_kb = 64});
  config.write_into_file = true;
  config.output_path = "/data/trace.pftrace";
  Call("EnableTracing", ArgsOf(config));
  EXPECT_THAT(Changes(), ElementsAre("file_named: /data/trace.pftrace", "started"));
}

TEST_F(ConsumerTapTest, Flush_AndItsReply) {
  EnableTracing();
  Reply(Call("Flush", Encode(ipc::FlushCall{.timeout_ms = 300})));
  Reply(Call("Flush"), /*success=*/false);
  EXPECT_THAT(Changes(), ElementsAre("started", "flush_called: timeout 300 ms", "flush_succeeded",
                                     "flush_called", "flush_failed"));
}

// The service's reply is the moment of the timeout.
TEST_F(ConsumerTapTest, Flush_ThatFailsHasTimedOut) {
  EnableTracing();
  ASSERT_TRUE(ConnectProducer());
  const uint64_t request = Call("Flush");
  producers_service_.Command("p", {.flush = ipc::FlushCommand{7, {1}, 4 | 2 << 4}});
  ASSERT_TRUE(producer_->WaitForFlush());
  EXPECT_THAT(log_.All<FlushRequested>(),
              ElementsAre(FlushRequested{7, ProducerId{1}, {1}, 4 | 2 << 4}));
  EXPECT_THAT(log_.All<FlushTimedOut>(), IsEmpty());
  Reply(request, /*success=*/false);
  EXPECT_THAT(log_.All<FlushTimedOut>(), ElementsAre(FlushTimedOut{7}));
}

TEST_F(ConsumerTapTest, DetachAndAttach_AreTheSameSession) {
  EnableTracing();
  Reply(Call("Detach", Encode(ipc::SessionKey{"k"})));
  Call("DisableTracing");  // of nothing
  Reply(Call("Attach", Encode(ipc::SessionKey{"k"})));
  Call("FreeBuffers");
  EXPECT_THAT(Changes(), ElementsAre("started", "detached: k", "stop_requested: DisableTracing",
                                     "attached: k"));
  EXPECT_EQ(log_.All<SessionChanged>().back().session, 1u);
  EXPECT_THAT(log_.All<SessionEnded>(), ElementsAre(SessionEnded{1}));
}

TEST_F(ConsumerTapTest, ObserveEvents_WhatTheServiceReports) {
  EnableTracing();
  const uint64_t request = Call("ObserveEvents");
  ipc::ObserveEventsReply reply;
  reply.events.all_data_sources_started = true;
  Reply(request, true, /*has_more=*/true, Encode(reply));
  EXPECT_THAT(Changes(), ElementsAre("started", "data_sources_started"));
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

// A packet that is larger than a frame makes a pass of several replies.
TEST_F(ConsumerTapTest, ReadBuffers_RepliesThatEndWithinAPacketAreOnePass) {
  EnableTracing();
  const uint64_t request = Call("ReadBuffers");
  const std::string part("\x12\x03\x0a\x01x", 5);         // a slice
  const std::string end("\x12\x05\x0a\x01x\x10\x01", 7);  // the last of its packet
  Reply(request, true, /*has_more=*/true, part);
  Reply(request, true, /*has_more=*/true, part + part);
  Reply(request, true, /*has_more=*/false, end);
  EXPECT_EQ(log_.All<ReadPass>().size(), 1u);
}

// The service replies to these with nothing, and reads no buffer.
TEST_F(ConsumerTapTest, ReadBuffers_OfASessionThatIsNotReadThatWay) {
  ipc::TraceConfig config;
  config.buffers.push_back({.size_kb = 64});
  config.write_into_file = true;
  Call("EnableTracing", ArgsOf(config));
  Reply(Call("ReadBuffers"));
  Call("FreeBuffers");
  config.write_into_file = false;
  config.triggers.mode = ipc::kTriggerModeClone;
  Call("EnableTracing", ArgsOf(config));
  Reply(Call("ReadBuffers"));
  Call("FreeBuffers");
  config.triggers.mode = 2;  // STOP_TRACING
  Call("EnableTracing", ArgsOf(config));
  Reply(Call("ReadBuffers"));
  EXPECT_THAT(log_.All<ReadPass>(), IsEmpty());
  Reply(Call("ReadBuffers"), true, false, std::string("\x12\0", 2));
  ASSERT_EQ(log_.All<ReadPass>().size(), 1u);
  EXPECT_EQ(log_.All<ReadPass>()[0].session, 3u);
}

// What a consumer reads after it has cloned is the clone.
TEST_F(ConsumerTapTest, CloneSession_ReadsOfTheCloneAreNotTheSessions) {
  EnableTracing();
  ASSERT_TRUE(ConnectProducer(/*no_flush=*/true));  // so that nothing is waited for
  Reply(Call("CloneSession"), /*success=*/false);
  EXPECT_THAT(log_.All<CloneRequested>(), ElementsAre(CloneRequested{1, 1, ""}));
  Reply(Call("CloneSession"), true, false, Encode(ipc::CloneSessionReply{.success = true}));
  EXPECT_THAT(log_.All<BufferCloned>(), ::testing::Contains(BufferCloned{2, BufferId{1}}));
  EXPECT_THAT(log_.All<CloneEnded>(), ElementsAre(CloneEnded{.clone = 1, .success = false},
                                                  CloneEnded{.clone = 2, .success = true}));
  Reply(Call("ReadBuffers"));
  EXPECT_THAT(log_.All<ReadPass>(), IsEmpty());
  EXPECT_THAT(log_.All<BufferFreed>(), IsEmpty());
}

/// A commit of a chunk to the producer's only buffer, and the reply to another request after it.
bool CommitAndSync(FakeProducer& producer, uint32_t number) {
  producer.Write({.page = number, .writer = WriterId{1}, .id = ChunkId{number}, .payload = "a"});
  std::string request;
  FakeProducer::AddChunk(request, number, BufferId{1});
  return producer.Commit(request) && producer.Sync() && producer.Sync();
}

// A commit waits for a read of the session that it goes to: shortly, however long the read takes.
TEST_F(ConsumerTapTest, Read_OfARunningSession_HoldsItsProducersShortly) {
  EnableTracing();
  ASSERT_TRUE(ConnectProducer());
  const uint64_t read = Call("ReadBuffers");
  ASSERT_TRUE(CommitAndSync(*producer_, 0));
  ASSERT_TRUE(CommitAndSync(*producer_, 1));
  EXPECT_THAT(log_.All<ReadPass>(), IsEmpty());
  EXPECT_EQ(log_.All<Commit>().size(), 2u);
  Reply(read, true, /*has_more=*/true);
  ASSERT_TRUE(CommitAndSync(*producer_, 2));
  Reply(read);
  EXPECT_EQ(log_.All<ReadPass>().size(), 2u);
  EXPECT_THAT(log_.All<Inexact>(), IsEmpty());  // the service confirmed each before the next pass
}

/// Where a read holds a producer, it does so for longer than a test waits for anything.
class LongReads : public ConsumerTapTest {
 protected:
  LongReads() : ConsumerTapTest(std::chrono::minutes(2)) {}
};

TEST_F(LongReads, OfAClone_HoldNobody) {
  EnableTracing();
  ASSERT_TRUE(ConnectProducer(/*no_flush=*/true));
  Reply(Call("CloneSession"), true, false, Encode(ipc::CloneSessionReply{.success = true}));
  const uint64_t read = Call("ReadBuffers");
  EXPECT_TRUE(CommitAndSync(*producer_, 0));
  Reply(read);
  EXPECT_THAT(log_.All<Inexact>(), IsEmpty());
}

// The read arrives while the recorder still waits for the service to confirm the clone.
TEST_F(LongReads, OfACloneThatIsNotConfirmedYet_HoldNobody) {
  EnableTracing();
  ASSERT_TRUE(ConnectProducer(/*no_flush=*/true));
  {
    const std::lock_guard lock(answering_);
    Reply(Call("CloneSession"), true, false, Encode(ipc::CloneSessionReply{.success = true}));
    ASSERT_TRUE(consumer_->Send(Request("ReadBuffers")));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the recorder receives it
  }
  ASSERT_TRUE(service_->Read());
  EXPECT_TRUE(CommitAndSync(*producer_, 0));
  Reply(last_request_);
  EXPECT_THAT(log_.All<Inexact>(), IsEmpty());
}

TEST_F(LongReads, OfAStoppedSession_HoldNobody) {
  const uint64_t session = Call("EnableTracing", EnableTracingArgs(FillPolicy::kDiscard));
  ASSERT_TRUE(ConnectProducer());
  Call("DisableTracing");
  Reply(session, true, false, Encode(ipc::EnableTracingReply{.disabled = true, .error = {}}));
  const uint64_t read = Call("ReadBuffers");
  EXPECT_TRUE(CommitAndSync(*producer_, 0));
  Reply(read, true, /*has_more=*/true);
  Reply(read);
  EXPECT_EQ(log_.All<ReadPass>().size(), 2u);
  EXPECT_THAT(log_.All<Inexact>(), IsEmpty());  // the service confirmed the commit in between
}

// The producer's answer to a flush for a clone may take as long as it likes.
TEST_F(LongReads, CloneThatWaitsForAProducer_HoldsNoOther) {
  EnableTracing();
  ASSERT_TRUE(ConnectProducer());
  const uint64_t clone = Call("CloneSession");
  EXPECT_TRUE(CommitAndSync(*producer_, 0));
  FakeProducer other(options_.producer.listen, "other");
  ASSERT_TRUE(other.Connect());
  EXPECT_TRUE(other.Sync());
  Reply(clone, true, false, Encode(ipc::CloneSessionReply{.success = true}));
  ASSERT_EQ(log_.All<Inexact>().size(), 1u);  // it was made without the producer's answer
  EXPECT_EQ(log_.All<Inexact>()[0].reason, InexactReason::kClone);
}

// The recorder is named as the cause of what the producer loses then, and of nothing else.
TEST_F(ConsumerTapTest, Read_ThatHoldsAProducerWhoseMemoryIsFull_IsMarkedIfPacketsAreLost) {
  EnableTracing();
  ASSERT_TRUE(ConnectProducer());
  producer_->RegisterWriter(WriterId{1}, BufferId{1});
  const size_t pages = producer_->memory().size() / TestMemory::kPage;
  std::string reports_loss;
  wire::AppendUint(reports_loss, proto::TracePacket::kPreviousPacketDropped, 1);
  const std::string lost = static_cast<char>(reports_loss.size()) + reports_loss;
  uint32_t id = 0;
  const auto write = [&](size_t page, const std::string& payload) {
    producer_->Write(
        {.page = page, .writer = WriterId{1}, .id = ChunkId{id++}, .payload = payload});
    std::string request;
    FakeProducer::AddChunk(request, page, BufferId{1});
    return request;
  };
  // Nothing is lost; only in the second chunk after the hold; in the first.
  for (const auto& [first, second, is_marked] :
       {std::tuple("a", "a", false), {"a", lost.c_str(), false}, {lost.c_str(), "a", true}}) {
    const uint64_t read = Call("ReadBuffers");
    std::string request;
    for (size_t page = 0; page < pages; ++page) request += write(page, "a");
    ASSERT_TRUE(producer_->Commit(request) && producer_->Sync());
    Reply(read);
    const size_t marks = log_.All<Inexact>().size();
    ASSERT_TRUE(producer_->Commit(write(0, first)) && producer_->Sync());
    ASSERT_TRUE(producer_->Commit(write(0, second)) && producer_->Sync());
    ASSERT_EQ(log_.All<Inexact>().size() - marks, is_marked ? 1u : 0u) << first << second;
  }
  const Inexact mark = log_.All<Inexact>().back();
  EXPECT_EQ(mark.reason, InexactReason::kHeld);
  EXPECT_EQ(mark.producer, ProducerId{1});
  EXPECT_GE(mark.held_ns.value(), 1'000'000u);
  EXPECT_THAT(mark.detail, HasSubstr("and lost packets"));
}

// How a clone was read decides where its passes end, and so its loss bits.
TEST_F(ConsumerTapTest, ReadsOfAClone_AreItsPasses) {
  EnableTracing();
  ASSERT_TRUE(ConnectProducer(/*no_flush=*/true));
  Reply(Call("CloneSession"), true, false, Encode(ipc::CloneSessionReply{.success = true}));
  Reply(Call("ReadBuffers"));
  EXPECT_THAT(log_.All<ClonePass>(), ElementsAre(ClonePass{1, 32768}));
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
