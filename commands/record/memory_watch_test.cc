#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>

#include "commands/record/producer_memory.h"
#include "commands/testing/ipc_peer.h"
#include "commands/testing/recorder_run.h"
#include "core/gaps/shared_memory_use.h"

namespace ringscope {
namespace {

using smb::ChunkState;
using testing::MemoryLog;
using testing::OneChunk;
using testing::TestMemory;

constexpr ProducerId kProducer{3};

/// A memory of eight pages, and what a reader makes of the looks at it.
class MemoryWatchTest : public ::testing::Test {
 protected:
  void Put(size_t page, ChunkState state, uint16_t writer, uint32_t chunk) {
    std::string header;
    AppendChunkHeader(header, {ChunkId{chunk}, WriterId{writer}, 1, 0});
    std::memcpy(shared_.chunk(page), header.data(), header.size());
    shared_.bitmap(page).store(OneChunk(state));
  }
  void Look() { watch_.LookNow(/*always=*/true); }
  /// All that was logged, read again.
  smb::MemoryFollower Follow() const {
    smb::MemoryFollower follower({kProducer, shared_.size(), TestMemory::kPage});
    for (const auto& look : log_.All<SharedMemoryLook>()) EXPECT_TRUE(follower.Add(look, 0));
    return follower;
  }
  smb::MemoryPicture Direct() const {
    smb::MemoryPicture picture(8);
    EXPECT_TRUE(memory_.Look(picture));
    return picture;
  }

  TestMemory shared_{8 * TestMemory::kPage, /*sealed=*/true};
  ProducerMemory memory_{SharedMemory::Open(UniqueFd(::dup(shared_.fd()))).value(),
                         TestMemory::kPage};
  MemoryLog log_;
  std::unique_ptr<EventLoop> loop_ = EventLoop::Create().value();
  EventLoop::Clock::time_point from_;
  MemoryWatch watch_{memory_, kProducer, log_, *loop_, from_};
};

TEST_F(MemoryWatchTest, TheLogHasWhatTheHeadersShow) {
  Look();
  Put(1, ChunkState::kBeingWritten, 4, 0);
  Put(2, ChunkState::kComplete, 5, 70000);
  Look();
  EXPECT_EQ(Follow().picture(), Direct());
  EXPECT_EQ(Follow().picture().pages()[2].holders[0],
            (smb::ChunkHolder{WriterId{5}, ChunkId{70000}}));
  Put(1, ChunkState::kComplete, 4, 0);
  shared_.bitmap(2).store(0);
  Look();
  EXPECT_EQ(Follow().picture(), Direct());
  EXPECT_EQ(log_.All<SharedMemoryLook>().size(), 3u);
  EXPECT_EQ(Follow().seen()->counts.used(), 1u);
}

TEST_F(MemoryWatchTest, WhatIsNotNew_IsNotLogged) {
  Put(1, ChunkState::kBeingWritten, 4, 0);
  watch_.LookNow();
  watch_.LookNow();
  ASSERT_EQ(log_.All<SharedMemoryLook>().size(), 1u);
  Put(1, ChunkState::kComplete, 4, 0);
  watch_.LookNow();
  const auto looks = log_.All<SharedMemoryLook>();
  ASSERT_EQ(looks.size(), 2u);
  EXPECT_EQ(looks[1].number, 1u);
  EXPECT_FALSE(looks[0].same_until_ns);
  EXPECT_TRUE(looks[1].same_until_ns);  // when it looked in between
}

TEST_F(MemoryWatchTest, NoLookThatCostsTooMuch) {
  Put(1, ChunkState::kBeingWritten, 4, 0);
  watch_.LookIfDue();
  ASSERT_EQ(log_.All<SharedMemoryLook>().size(), 1u);
  EXPECT_GT(from_, MemoryWatch::Clock::time_point());
  from_ = MemoryWatch::Clock::now() + std::chrono::hours(1);  // as after a look that took long
  Put(1, ChunkState::kComplete, 4, 0);
  watch_.LookIfDue();
  EXPECT_EQ(log_.All<SharedMemoryLook>().size(), 1u);
  EXPECT_EQ(watch_.next(), from_);  // it is tried again, later
  watch_.LookNow();                 // the last look is never left out
  EXPECT_EQ(log_.All<SharedMemoryLook>().size(), 2u);
}

TEST_F(MemoryWatchTest, WhatIsInUse_IsLookedAtByATimer) {
  Put(1, ChunkState::kBeingWritten, 4, 0);
  watch_.LookIfDue();
  Put(1, ChunkState::kComplete, 4, 0);
  loop_->RunUntil([&] { return log_.All<SharedMemoryLook>().size() == 2; });
}

TEST_F(MemoryWatchTest, WhatIsInUse_IsLookedAtAgain) {
  Look();
  EXPECT_FALSE(watch_.next());  // all is free
  Put(1, ChunkState::kBeingWritten, 4, 0);
  Look();
  const auto first = watch_.next();
  ASSERT_TRUE(first);
  // The longer nothing changes, the later.
  const auto pause = [&] {
    const auto before = MemoryWatch::Clock::now();
    watch_.LookNow();
    return *watch_.next() - before;
  };
  EXPECT_GE(pause(), std::chrono::milliseconds(2));
  EXPECT_GE(pause(), std::chrono::milliseconds(4));
  shared_.bitmap(1).store(0);
  Look();
  EXPECT_FALSE(watch_.next());
}

TEST_F(MemoryWatchTest, SomeLooksAreWhole) {
  for (uint32_t i = 0; i <= MemoryWatch::kWholeEvery; ++i) {
    Put(i % 8, ChunkState::kComplete, 1, i);
    Look();
  }
  const auto looks = log_.All<SharedMemoryLook>();
  ASSERT_EQ(looks.size(), MemoryWatch::kWholeEvery + 1);
  EXPECT_TRUE(looks.front().whole);
  EXPECT_FALSE(looks[1].whole);
  EXPECT_TRUE(looks.back().whole);
  smb::MemoryFollower late({kProducer, shared_.size(), TestMemory::kPage});
  EXPECT_FALSE(late.Add(looks[MemoryWatch::kWholeEvery - 1], 0));
  EXPECT_TRUE(late.Add(looks.back(), 0));
  EXPECT_EQ(late.picture(), Direct());
}

// Whatever the headers hold, and however they change while they are read: each look is logged such
// that it can be read, and nothing is written to the memory.
TEST_F(MemoryWatchTest, HostileHeaders) {
  std::atomic<bool> stop = false;
  std::thread hostile([&] {
    std::mt19937 random(1);
    while (!stop)
      std::atomic_ref<uint32_t>(
          *reinterpret_cast<uint32_t*>(shared_.data() + random() % (shared_.size() / 4) * 4))
          .store(static_cast<uint32_t>(random()), std::memory_order_relaxed);
  });
  for (int i = 0; i < 2000; ++i) Look();
  stop = true;
  hostile.join();
  const std::string before(reinterpret_cast<const char*>(shared_.data()), shared_.size());
  Look();
  EXPECT_EQ(Follow().picture(), Direct());
  EXPECT_EQ(log_.All<SharedMemoryLook>().size(), 2001u);
  EXPECT_EQ(before, std::string(reinterpret_cast<const char*>(shared_.data()), shared_.size()));
}

TEST_F(MemoryWatchTest, LargestMemory_OfAnyBits) {
  TestMemory large(smb::kMaxPagesOfPicture * TestMemory::kPage, /*sealed=*/true);
  const ProducerMemory memory(SharedMemory::Open(UniqueFd(::dup(large.fd()))).value(),
                              TestMemory::kPage);
  MemoryWatch watch(memory, kProducer, log_, *loop_, from_);
  std::mt19937 random(1);
  for (size_t page = 0; page < smb::kMaxPagesOfPicture; ++page)
    large.bitmap(page).store(static_cast<uint32_t>(random()));
  watch.LookNow();
  smb::MemoryFollower follower({kProducer, large.size(), TestMemory::kPage});
  ASSERT_EQ(log_.All<SharedMemoryLook>().size(), 1u);
  EXPECT_TRUE(follower.Add(log_.All<SharedMemoryLook>().front(), 0));
  for (size_t page = 0; page < smb::kMaxPagesOfPicture; ++page)
    ASSERT_EQ(follower.picture().pages()[page].bits, large.bitmap(page).load()) << page;
}

TEST_F(MemoryWatchTest, TooManyPages_AreNotLookedAt) {
  TestMemory large((smb::kMaxPagesOfPicture + 1) * TestMemory::kPage, /*sealed=*/true);
  const ProducerMemory memory(SharedMemory::Open(UniqueFd(::dup(large.fd()))).value(),
                              TestMemory::kPage);
  MemoryWatch watch(memory, kProducer, log_, *loop_, from_);
  watch.LookNow(/*always=*/true);
  EXPECT_TRUE(log_.All<SharedMemoryLook>().empty());
}

}  // namespace
}  // namespace ringscope
