#include "commands/record/socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "commands/testing/ipc_peer.h"
#include "commands/testing/memory_run.h"

namespace ringscope {
namespace {

using testing::BlockingPeer;
using testing::TestMemory;

std::string FrameTo(uint64_t method, size_t size = 10) {
  const std::string args(size, 'x');
  std::string frame;
  ipc::AppendInvoke(frame, 1, {.service = 1, .method = method, .args = wire::AsBytes(args)});
  return frame;
}
constexpr uint64_t kCarrying = 7;
bool Carries(const ipc::Frame& frame) {
  const auto* const invoke = std::get_if<ipc::InvokeMethod>(&frame.body);
  return invoke != nullptr && invoke->method == kCarrying;
}
ino_t FileOf(int fd) {
  struct stat info {};
  EXPECT_EQ(::fstat(fd, &info), 0);
  return info.st_ino;
}

class FrameSocketTest : public ::testing::Test {
 protected:
  FrameSocketTest() {
    auto pair = testing::MakeSocketPair();
    socket_.emplace(std::move(pair.first));
    peer_.emplace(std::move(pair.second));
  }
  /// Methods of the frames that are there, each with the number of descriptors after it.
  std::vector<std::string> ReadAll(FrameSocket& socket) {
    std::vector<std::string> frames;
    size_t before = SIZE_MAX;
    while (before != frames.size()) {  // until a receive brings nothing more
      before = frames.size();
      EXPECT_TRUE(socket.Receive());
      while (auto frame = socket.NextFrame(Carries).value()) {
        const auto& invoke = std::get<ipc::InvokeMethod>(frame->frame.body);
        frames.push_back(std::to_string(invoke.method) + "+" + std::to_string(frame->fds.size()));
        for (const UniqueFd& fd : frame->fds) EXPECT_EQ(FileOf(fd.get()), FileOf(memory_.fd()));
      }
    }
    return frames;
  }

  TestMemory memory_{TestMemory::kPage, true};
  std::optional<FrameSocket> socket_;
  std::optional<BlockingPeer> peer_;
};

TEST_F(FrameSocketTest, Descriptor_BelongsToTheFrameThatCarriesOne) {
  peer_->Send(FrameTo(1));
  peer_->Send(FrameTo(2) + FrameTo(kCarrying) + FrameTo(3), memory_.fd());
  peer_->Send(FrameTo(4));
  EXPECT_THAT(ReadAll(*socket_), ::testing::ElementsAre("1+0", "2+0", "7+1", "3+0", "4+0"));
}

TEST_F(FrameSocketTest, Descriptor_OfAnUnknownFrame_GoesByItsPlace) {
  peer_->Send(FrameTo(1));
  peer_->Send(FrameTo(2), memory_.fd());
  peer_->Send(FrameTo(3));
  EXPECT_THAT(ReadAll(*socket_), ::testing::ElementsAre("1+0", "2+1", "3+0"));
}

TEST_F(FrameSocketTest, Descriptors_LeaveWithTheirFrames) {
  auto pair = testing::MakeSocketPair();
  FrameSocket from(std::move(pair.first));
  FrameSocket to(std::move(pair.second));
  const std::string plain = FrameTo(1);
  const std::string carrying = FrameTo(2, 20'000);  // recognized by its place alone
  from.Queue(wire::AsBytes(plain));
  for (int i = 0; i < 3; ++i) {
    PassingFrame frame;
    frame.frame.whole = wire::AsBytes(carrying);
    frame.fds.emplace_back(::dup(memory_.fd()));
    from.Queue(std::move(frame));
    from.Queue(wire::AsBytes(plain));
  }
  from.SendQueued();
  EXPECT_EQ(from.queued(), 0u);
  EXPECT_THAT(ReadAll(to), ::testing::ElementsAre("1+0", "2+1", "1+0", "2+1", "1+0", "2+1", "1+0"));
}

TEST_F(FrameSocketTest, Receive_SaysWhetherItTookAll) {
  peer_->Send(FrameTo(1));
  peer_->Send(FrameTo(2));
  EXPECT_EQ(socket_->Receive().value(), IoState::kDoneAll);
  EXPECT_EQ(socket_->Receive().value(), IoState::kWouldBlock);
  peer_->Send(FrameTo(kCarrying), memory_.fd());
  peer_->Send(FrameTo(3));
  EXPECT_EQ(socket_->Receive().value(), IoState::kDone) << "the kernel stops at a descriptor";
  EXPECT_EQ(socket_->Receive().value(), IoState::kDoneAll);
}

TEST_F(FrameSocketTest, TooManyDescriptors_AreRefused) {
  bool refused = false;
  for (int i = 0; i < 20 && !refused; ++i) {
    peer_->Send("x", memory_.fd());  // never a frame
    refused = !socket_->Receive();
  }
  EXPECT_TRUE(refused);
}

TEST_F(FrameSocketTest, PeerThatClosed_TakesNothingMore) {
  peer_->Close();
  const std::string frame = FrameTo(1);
  socket_->Queue(wire::AsBytes(frame));
  socket_->SendQueued();
  EXPECT_EQ(socket_->queued(), 0u);
  EXPECT_EQ(socket_->Receive().value(), IoState::kClosed);
}

TEST(Listener, LeftOverSocket_IsTakenOver) {
  const TempFolder folder;
  const std::string path = folder.File("socket");
  {
    const auto dead = Listener::Create(path, 0600);
    ASSERT_TRUE(dead);
    EXPECT_FALSE(Listener::Create(path, 0600)) << "one that lives is not";
    ASSERT_EQ(::link(path.c_str(), folder.File("kept").c_str()), 0);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  ASSERT_EQ(::rename(folder.File("kept").c_str(), path.c_str()), 0);
  EXPECT_TRUE(Listener::Create(path, 0600));
}

TEST(Listener, WhatIsNoSocket_IsLeftAlone) {
  const TempFolder folder;
  const std::string path = folder.Write("file", "precious");
  EXPECT_FALSE(Listener::Create(path, 0600));
  EXPECT_EQ(ReadFile(path), "precious");
  EXPECT_FALSE(Listener::Create(std::string(200, 'x'), 0600));
  EXPECT_FALSE(Listener::Create("", 0600));
  EXPECT_FALSE(Listener::Create("@", 0600));
}

TEST(Connect, List_IsTriedInOrder) {
  const auto listener = Listener::Create(testing::UniqueSocketName("list"), 0600).value();
  EXPECT_TRUE(Connect("@nobody-is-here," + listener.name()));
  EXPECT_FALSE(Connect("@nobody-is-here,@nor-here"));
  EXPECT_FALSE(Connect(""));
}

}  // namespace
}  // namespace ringscope
