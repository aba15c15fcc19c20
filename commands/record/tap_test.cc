#include "commands/record/tap.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <memory>

#include "commands/record/tap.h"
#include "commands/testing/ipc_script.h"

namespace ringscope {
namespace {

using ipc::MethodName;

class MarkCountingLog : public testing::CheckedLog {
 public:
  void Append(OpBody body) override {
    marks_ += std::holds_alternative<Inexact>(body) ? 1 : 0;
    CheckedLog::Append(std::move(body));
  }
  size_t marks() const { return marks_; }

 private:
  size_t marks_ = 0;
};

/// A tap; the test plays its client and the service.
class TapTest : public ::testing::Test {
 protected:
  TapTest() { Bind(NewProducerTap(recording_, {1, 2}), ipc::kProducerPort); }
  void Bind(std::unique_ptr<Tap> tap, std::string_view port) {
    tap_ = std::move(tap);
    methods_ = {};
    const testing::Binding binding = testing::BindingOf(port);
    FromClient(binding.request);
    FromService(binding.reply);
    methods_.Learn(
        std::get<ipc::BindServiceReply>(ipc::ParseFrame(wire::AsBytes(binding.reply))->body));
  }

  void FromClient(const std::string& bytes) {
    EXPECT_TRUE(tap_->FromClient({*ipc::ParseFrame(wire::AsBytes(bytes)), {}}, service_));
  }
  void FromService(const std::string& bytes) {
    EXPECT_TRUE(tap_->FromService({*ipc::ParseFrame(wire::AsBytes(bytes)), {}}, client_));
  }
  void Call(MethodName method, uint64_t id, bool drop_reply, const std::string& args = {}) {
    std::string frame;
    ipc::AppendInvoke(frame, id,
                      {.service = methods_.service(),
                       .method = *methods_.IdOf(method),
                       .args = wire::AsBytes(args),
                       .drop_reply = drop_reply});
    FromClient(frame);
  }
  void Commit(uint64_t id) { Call(MethodName::kCommitData, id, /*drop_reply=*/true); }
  void Sync(uint64_t id) { Call(MethodName::kSync, id, /*drop_reply=*/false); }
  void Reply(uint64_t id) {
    std::string frame;
    ipc::AppendInvokeReply(frame, id, {.success = true, .has_more = false, .reply = {}});
    FromService(frame);
  }
  MarkCountingLog log_;
  std::unique_ptr<EventLoop> loop_ = EventLoop::Create().value();
  RecordingState recording_{*loop_, log_, [](const std::string&, int32_t) {}};
  std::unique_ptr<Tap> tap_;
  std::pair<UniqueFd, UniqueFd> client_ends_ = testing::MakeSocketPair();
  FrameSocket client_{std::move(client_ends_.first)};

  /// Asks for a confirmation. @return the id of the request that was sent for it, if one was
  std::optional<uint64_t> Ask() {
    Forwarded();
    tap_->AskConfirmation(service_, true);
    const std::string sent = Forwarded();
    if (sent.empty()) return std::nullopt;
    return ipc::ParseFrame(wire::AsBytes(sent))->request_id;
  }

 private:
  /// What was queued for the service since the last call.
  std::string Forwarded() {
    service_.SendQueued();
    std::array<uint8_t, 16384> space;
    const Received received = Receive(service_ends_.second.get(), space);
    return std::string(wire::AsText(Bytes(space).first(received.bytes)));
  }

  std::pair<UniqueFd, UniqueFd> service_ends_ = testing::MakeSocketPair();
  FrameSocket service_{std::move(service_ends_.first)};
  ipc::MethodTable methods_;
};

TEST_F(TapTest, Commit_NeedsARequestOfTheRecorder) {
  EXPECT_EQ(tap_->phase(), Phase::kSettled);
  Commit(2);
  EXPECT_EQ(tap_->phase(), Phase::kPassed);
  const std::optional<uint64_t> asked = Ask();
  ASSERT_TRUE(asked);
  EXPECT_EQ(tap_->phase(), Phase::kAsked);
  Reply(*asked);
  EXPECT_EQ(tap_->phase(), Phase::kSettled);
}

// A read that takes long holds its producers no more.
TEST_F(TapTest, PassOfUnknownPlace_MarksItsBuffers_Once) {
  Bind(NewConsumerTap(recording_, {1, 2}), ipc::kConsumerPort);
  Call(MethodName::kEnableTracing, 2, false, testing::EnableTracingArgs(FillPolicy::kDiscard));
  recording_.buffers.OnTarget({.data_source = "source.p", .buffer = BufferId{1}});
  for (uint64_t id = 3; id < 5; ++id) {
    Call(MethodName::kReadBuffers, id, false);
    tap_->MarkUnordered(tap_->InOrder());  // nothing else is under way
    tap_->StopWaiting();
    EXPECT_FALSE(tap_->IsBeingServed());
    EXPECT_EQ(log_.marks(), id - 3);
    tap_->MarkUnordered(tap_->InOrder());
    EXPECT_EQ(log_.marks(), 1u);
    Reply(id);
  }
}

// What is read after the session has stopped holds no producer, and what is late is confirmed soon.
TEST_F(TapTest, ReadOfAStoppedSession_IsNotWaitedFor) {
  Bind(NewConsumerTap(recording_, {1, 2}), ipc::kConsumerPort);
  Call(MethodName::kEnableTracing, 2, false, testing::EnableTracingArgs(FillPolicy::kDiscard));
  recording_.buffers.OnTarget({.data_source = "source.p", .buffer = BufferId{1}});
  Call(MethodName::kReadBuffers, 3, false);
  EXPECT_TRUE(tap_->IsBeingServed());
  EXPECT_TRUE(tap_->InOrder().empty());  // nothing else is under way
  Reply(3);
  Reply(2);
  Call(MethodName::kReadBuffers, 4, false);
  EXPECT_FALSE(tap_->IsBeingServed());
  EXPECT_EQ(tap_->InOrder(), std::set{BufferId{1}});
  Reply(4);
  EXPECT_TRUE(tap_->InOrder().empty());
}

TEST_F(TapTest, ClientsSync_ConfirmsNothing) {
  Commit(2);
  Sync(3);
  Reply(3);
  EXPECT_EQ(tap_->phase(), Phase::kPassed);
}

}  // namespace
}  // namespace ringscope
