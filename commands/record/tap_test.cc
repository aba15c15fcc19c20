#include "commands/record/tap.h"

#include <gtest/gtest.h>

#include <array>

#include "commands/record/producer_tap.h"
#include "commands/testing/ipc_script.h"

namespace ringscope {
namespace {

using ipc::MethodName;

/// A producer's tap; the test plays the producer and the service.
class TapTest : public ::testing::Test {
 protected:
  TapTest() {
    const testing::Binding binding = testing::BindingOf(ipc::kProducerPort);
    FromClient(binding.request);
    FromService(binding.reply);
    methods_.Learn(
        std::get<ipc::BindServiceReply>(ipc::ParseFrame(wire::AsBytes(binding.reply))->body));
  }

  void FromClient(const std::string& bytes) {
    EXPECT_TRUE(tap_.FromClient({*ipc::ParseFrame(wire::AsBytes(bytes)), {}}, service_));
  }
  void FromService(const std::string& bytes) {
    EXPECT_TRUE(tap_.FromService({*ipc::ParseFrame(wire::AsBytes(bytes)), {}}, client_));
  }
  void Call(MethodName method, uint64_t id, bool drop_reply) {
    std::string frame;
    ipc::AppendInvoke(frame, id,
                      {.service = methods_.service(),
                       .method = *methods_.IdOf(method),
                       .args = {},
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
  /// Asks for a confirmation. @return the id of the request that was sent for it, if one was
  std::optional<uint64_t> Ask() {
    Forwarded();
    EXPECT_TRUE(tap_.AskConfirmation(service_, true));
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

  testing::CheckedLog log_;
  std::unique_ptr<EventLoop> loop_ = EventLoop::Create().value();
  Recording recording_{*loop_, log_, [](const std::string&, int32_t) {}};
  std::pair<UniqueFd, UniqueFd> client_ends_ = testing::MakeSocketPair();
  std::pair<UniqueFd, UniqueFd> service_ends_ = testing::MakeSocketPair();
  FrameSocket client_{std::move(client_ends_.first)};
  FrameSocket service_{std::move(service_ends_.first)};
  ipc::MethodTable methods_;

 protected:
  ProducerTap tap_{recording_, PeerIdentity{1, 2}};
};

TEST_F(TapTest, Commit_NeedsARequestOfTheRecorder) {
  EXPECT_FALSE(tap_.NeedsConfirmation());
  Commit(2);
  EXPECT_TRUE(tap_.NeedsConfirmation());
  const std::optional<uint64_t> asked = Ask();
  ASSERT_TRUE(asked);
  EXPECT_FALSE(tap_.TakeConfirmed());
  Reply(*asked);
  EXPECT_TRUE(tap_.TakeConfirmed());
  EXPECT_FALSE(tap_.NeedsConfirmation());
}

TEST_F(TapTest, ClientsSync_ConfirmsNothing) {
  Commit(2);
  Sync(3);
  Reply(3);
  EXPECT_TRUE(tap_.NeedsConfirmation());
  EXPECT_FALSE(tap_.TakeConfirmed());
}

}  // namespace
}  // namespace ringscope
