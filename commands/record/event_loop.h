#ifndef RINGSCOPE_COMMANDS_RECORD_EVENT_LOOP_H_
#define RINGSCOPE_COMMANDS_RECORD_EVENT_LOOP_H_

#include <time.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "commands/record/socket.h"
#include "core/base/result.h"

namespace ringscope {

/// CLOCK_BOOTTIME, the clock of a recording's times, in ns.
inline uint64_t BootTimeNs() {
  timespec now = {};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

/// Waits for descriptors and times, and calls their handlers. One thread. A handler is called only
/// as long as the handle of its watch or timer exists.
class EventLoop {
 public:
  using Clock = std::chrono::steady_clock;
  /// @param events of epoll: EPOLLIN, EPOLLOUT, EPOLLHUP, ...
  using Handler = std::function<void(uint32_t events)>;

  /// A descriptor that is watched until this is destroyed: no call follows, even if one is due. The
  /// loop must live longer.
  class Watched {
   public:
    ~Watched();
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

    /// @param events 0: nothing is of interest, not even that the peer hung up
    /// An error leaves the events as they were.
    Status SetEvents(uint32_t events);

   private:
    friend class EventLoop;
    Watched(EventLoop& loop, int fd, Handler handler);

    EventLoop& loop_;
    const uint64_t id_;
    const int fd_;
    uint32_t events_ = 0;
    const std::shared_ptr<const Handler> handler_;  // it may end its own watch
  };
  using WatchHandle = std::unique_ptr<Watched>;

  /// A call that is due later, or was made. Destroying or replacing it cancels the call.
  using Timer = std::shared_ptr<const std::function<void()>>;

  static Result<std::unique_ptr<EventLoop>> Create();

  /// Calls `handler` whenever `fd` is ready, as long as the handle lives. The descriptor must stay
  /// open as long. kIo: it cannot be watched, or the system's limit of watches is reached.
  Result<WatchHandle> Watch(int fd, uint32_t events, Handler handler);
  /// Calls once, at that time or soon after.
  [[nodiscard]] Timer CallAt(Clock::time_point time, std::function<void()> call);
  [[nodiscard]] Timer CallAfter(Clock::duration time, std::function<void()> call) {
    return CallAt(Clock::now() + time, std::move(call));
  }
  /// Calls when what is being handled now is done.
  [[nodiscard]] Timer CallSoon(std::function<void()> call) {
    return CallAt(Clock::time_point::min(), std::move(call));
  }

  /// Handles events until `done` returns true; it is called after each round.
  void RunUntil(const std::function<bool()>& done);

 private:
  explicit EventLoop(UniqueFd epoll) : epoll_(std::move(epoll)) {}
  int TimeoutMs();
  void CallDue();

  UniqueFd epoll_;
  uint64_t last_id_ = 0;
  std::unordered_map<uint64_t, const Watched*> watched_;  // by id: descriptors come back
  /// By time; those that were cancelled stay until they are due, or first.
  std::multimap<Clock::time_point, Timer::weak_type> calls_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_EVENT_LOOP_H_
