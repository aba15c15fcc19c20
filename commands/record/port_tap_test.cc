#include "commands/record/port_tap.h"

#include <gtest/gtest.h>

#include <array>

#include "commands/record/producer_tap.h"
#include "commands/testing/ipc_script.h"

namespace ringscope {
namespace {

using ipc::MethodName;

/// A producer's tap; the test plays the producer and the service.
class PortTapTest : public ::testing::Test {
 protected:
  PortTapTest() {
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
  void Call(MethodName method, uint64_t id, bool drop_reply = false) {
    std::string frame;
    ipc::AppendInvoke(frame, id,
                      {.service = methods_.service(),
                       .method = *methods_.IdOf(method),
                       .args = {},
                       .drop_reply = drop_reply});
    FromClient(frame);
  }
  void Commit(uint64_t id) { Call(MethodName::kCommitData, id, /*drop_reply=*/true); }
  void Sync(uint64_t id) { Call(MethodName::kSync, id); }
  void Reply(uint64_t id) {
    std::string frame;
    ipc::AppendInvokeReply(frame, id, {.success = true, .has_more = false, .reply = {}});
    FromService(frame);
  }
  /// Asks for a confirmation. @return the id of the request that was sent for it, if one was
  std::optional<uint64_t> Ask() {
    Forwarded();
    EXPECT_TRUE(tap_.AskConfirmation(service_));
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
  RecordCounts counts_;
  SessionBuffers buffers_{log_, [](const Warning&) {}};
  Instances instances_;
  FlushWatch flushes_{log_, buffers_};
  CloneWatch clones_{log_, buffers_, instances_};
  FileWatch files_{log_};
  Recording recording_{.log = log_,
                       .buffers = buffers_,
                       .instances = instances_,
                       .flushes = flushes_,
                       .clones = clones_,
                       .files = files_,
                       .counts = counts_};
  std::pair<UniqueFd, UniqueFd> client_ends_ = testing::MakeSocketPair();
  std::pair<UniqueFd, UniqueFd> service_ends_ = testing::MakeSocketPair();
  FrameSocket client_{std::move(client_ends_.first)};
  FrameSocket service_{std::move(service_ends_.first)};
  ipc::MethodTable methods_;

 protected:
  ProducerTap tap_{recording_, PeerIdentity{1, 2}};
};

TEST_F(PortTapTest, Commit_NeedsARequestOfTheRecorder) {
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

TEST_F(PortTapTest, ReplyToTheClientsSync_ConfirmsWhatCameBefore) {
  Commit(2);
  Sync(3);
  EXPECT_TRUE(tap_.NeedsConfirmation());
  Reply(3);
  EXPECT_FALSE(tap_.NeedsConfirmation());
  EXPECT_FALSE(tap_.TakeConfirmed());  // nobody asked
}

TEST_F(PortTapTest, ConfirmationThatTheClientsSyncWillGive_IsNotAskedForAgain) {
  Commit(2);
  Sync(3);
  EXPECT_EQ(Ask(), std::nullopt);
  EXPECT_FALSE(tap_.TakeConfirmed());
  Reply(3);
  EXPECT_TRUE(tap_.TakeConfirmed());
  EXPECT_FALSE(tap_.NeedsConfirmation());
}

TEST_F(PortTapTest, SyncAlone_NeedsNoConfirmation) {
  Sync(2);
  EXPECT_FALSE(tap_.NeedsConfirmation());
}

TEST_F(PortTapTest, CommitAfterTheSync_IsNotConfirmedByIt) {
  Commit(2);
  Sync(3);
  Commit(4);
  Reply(3);
  EXPECT_TRUE(tap_.NeedsConfirmation());
  EXPECT_NE(Ask(), std::nullopt);
}

TEST_F(PortTapTest, SyncWithoutReply_ConfirmsNothing) {
  Commit(2);
  Call(MethodName::kSync, 3, /*drop_reply=*/true);
  EXPECT_NE(Ask(), std::nullopt);
}

// The reply to the first request 9 must not be taken for the one to the second.
TEST_F(PortTapTest, SyncWithAnIdThatWasUsed_ConfirmsNothing) {
  Call(MethodName::kNotifyDataSourceStarted, 9);
  Commit(2);
  Sync(9);
  Reply(9);
  EXPECT_TRUE(tap_.NeedsConfirmation());
  EXPECT_NE(Ask(), std::nullopt);
}

// It was asked for one round of its own before: that one is waited for.
TEST_F(PortTapTest, SyncWhileTheRecorderHasAsked_LeavesItToTheRecordersReply) {
  Commit(2);
  const std::optional<uint64_t> asked = Ask();
  ASSERT_TRUE(asked);
  Sync(3);
  Reply(3);
  EXPECT_TRUE(tap_.NeedsConfirmation());
  Reply(*asked);
  EXPECT_TRUE(tap_.TakeConfirmed());
  EXPECT_FALSE(tap_.NeedsConfirmation());
}

}  // namespace
}  // namespace ringscope
