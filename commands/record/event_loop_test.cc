#include "commands/record/event_loop.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <chrono>
#include <string>
#include <vector>

namespace ringscope {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class EventLoopTest : public ::testing::Test {
 protected:
  /// Runs the loop for some time. @return rounds that it made
  int RunFor(milliseconds time) {
    bool over = false;
    int rounds = 0;
    const EventLoop::Timer end = loop_->CallAfter(time, [&] { over = true; });
    loop_->RunUntil([&] {
      ++rounds;
      return over;
    });
    return rounds;
  }
  /// A descriptor that is readable.
  static UniqueFd Readable() { return UniqueFd(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)); }

  const std::unique_ptr<EventLoop> loop_ = EventLoop::Create().value();
};

TEST_F(EventLoopTest, Timers_AreCalledInOrderOfTime) {
  std::vector<int> calls;
  const auto later = loop_->CallAfter(milliseconds(2), [&] { calls.push_back(2); });
  const auto sooner = loop_->CallAfter(milliseconds(1), [&] { calls.push_back(1); });
  const auto soon = loop_->CallSoon([&] { calls.push_back(0); });
  RunFor(milliseconds(10));
  EXPECT_THAT(calls, ElementsAre(0, 1, 2));
}

TEST_F(EventLoopTest, Timer_IsCancelledWithItsHandle) {
  int calls = 0;
  {
    const EventLoop::Timer timer = loop_->CallAfter(milliseconds(1), [&] { ++calls; });
  }
  EventLoop::Timer replaced = loop_->CallSoon([&] { ++calls; });
  replaced = {};
  RunFor(milliseconds(10));
  EXPECT_EQ(calls, 0);
}

TEST_F(EventLoopTest, Timer_CanCancelOneThatIsDueInTheSameRound) {
  bool called = false;
  EventLoop::Timer second;
  const EventLoop::Timer first = loop_->CallSoon([&] { second = {}; });
  second = loop_->CallSoon([&] { called = true; });
  RunFor(milliseconds(5));
  EXPECT_FALSE(called);
}

TEST_F(EventLoopTest, Timer_CanReplaceItselfInItsCall) {
  EventLoop::Timer timer;
  std::string text = "once";
  int calls = 0;
  timer = loop_->CallSoon([&, copy = text] {
    timer = loop_->CallSoon([&] { ++calls; });
    EXPECT_EQ(copy, "once");  // what the call holds is still there
    ++calls;
  });
  RunFor(milliseconds(5));
  EXPECT_EQ(calls, 2);
}

TEST_F(EventLoopTest, Watch_ThatEndsInTheSameRound_IsNotCalled) {
  const UniqueFd a = Readable(), b = Readable();
  EventLoop::WatchHandle watch_a, watch_b;
  int calls = 0;
  const auto handler = [&](uint32_t) {
    ++calls;
    watch_a.reset();
    watch_b.reset();
  };
  watch_a = loop_->Watch(a.get(), EPOLLIN, handler).value();
  watch_b = loop_->Watch(b.get(), EPOLLIN, handler).value();
  RunFor(milliseconds(5));
  EXPECT_EQ(calls, 1);
}

// The next arrival has its own place, also if the descriptor was read meanwhile.
TEST_F(EventLoopTest, Rearm_ForgetsTheReportOfWhatWasTaken) {
  const UniqueFd start = Readable(), a = Readable(), b = Readable();
  const auto put = [](const UniqueFd& to) { return ::eventfd_write(to.get(), 1) == 0; };
  const auto take = [](const UniqueFd& from) {
    eventfd_t count = 0;
    return ::eventfd_read(from.get(), &count) == 0;
  };
  ASSERT_TRUE(take(a) && take(b));
  std::string calls;
  const auto noting = [&](char name) { return [&, name](uint32_t) { calls += name; }; };
  const auto watch_a = loop_->Watch(a.get(), EPOLLIN | EPOLLET, noting('a')).value();
  const auto watch_b = loop_->Watch(b.get(), EPOLLIN | EPOLLET, noting('b')).value();
  const auto first = loop_->Watch(start.get(), EPOLLIN | EPOLLET, [&](uint32_t) {
    EXPECT_TRUE(put(a) && take(a) && watch_a->Rearm() && put(b) && put(a));
  });
  RunFor(milliseconds(5));
  EXPECT_EQ(calls, "ba");
}

// epoll takes no regular files, and no descriptors that are closed.
TEST_F(EventLoopTest, Watch_OfWhatCannotBeWatched_IsAnError) {
  const UniqueFd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(file.valid());
  const auto watch = loop_->Watch(file.get(), EPOLLIN, [](uint32_t) {});
  ASSERT_FALSE(watch);
  EXPECT_THAT(watch.error().ToString(), HasSubstr("cannot watch a file descriptor"));
}

TEST_F(EventLoopTest, SetEvents_ReportsErrors) {
  UniqueFd fd = Readable();
  EventLoop::WatchHandle watch = loop_->Watch(fd.get(), EPOLLIN, [](uint32_t) {}).value();
  EXPECT_TRUE(watch->SetEvents(0));
  EXPECT_TRUE(watch->SetEvents(0));
  fd.Reset();
  EXPECT_FALSE(watch->SetEvents(EPOLLIN));
}

// What it is watched by stays readable: the loop must not be woken up for it again and again.
TEST_F(EventLoopTest, ChildThatEnded_IsNotWatchedAnyMore) {
  const auto child = ChildProcess::Start({"sh", "-c", "exit 3"}).value();
  std::vector<std::string> endings;
  ASSERT_TRUE(
      child->WatchEnd(*loop_, [&](std::string ending) { endings.push_back(std::move(ending)); }));
  loop_->RunUntil([&] { return !endings.empty(); });
  EXPECT_LE(RunFor(milliseconds(50)), 3);
  EXPECT_THAT(endings, ElementsAre("ended with status 3"));
}

}  // namespace
}  // namespace ringscope
