#ifndef RINGSCOPE_COMMANDS_TESTING_LOOP_WAKE_H_
#define RINGSCOPE_COMMANDS_TESTING_LOOP_WAKE_H_

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "commands/record/event_loop.h"

namespace ringscope::testing {

/// Makes a loop's RunUntil call `done` again, from any thread.
class LoopWake {
 public:
  explicit LoopWake(EventLoop& loop)
      : watch_(loop.Watch(fd_.get(), EPOLLIN,
                          [this](uint32_t) {
                            uint64_t count = 0;
                            static_cast<void>(::read(fd_.get(), &count, sizeof(count)) > 0);
                          })
                   .value()) {}
  LoopWake(const LoopWake&) = delete;
  LoopWake& operator=(const LoopWake&) = delete;

  void operator()() const {
    const uint64_t one = 1;
    static_cast<void>(::write(fd_.get(), &one, sizeof(one)) > 0);
  }

 private:
  const UniqueFd fd_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  EventLoop::WatchHandle watch_;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_LOOP_WAKE_H_
