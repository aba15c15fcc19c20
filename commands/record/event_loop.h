#ifndef RINGSCOPE_COMMANDS_RECORD_EVENT_LOOP_H_
#define RINGSCOPE_COMMANDS_RECORD_EVENT_LOOP_H_

#include <signal.h>
#include <sys/types.h>
#include <time.h>

#include <chrono>
#include <unordered_map>

#include "commands/record/socket.h"
#include "core/base/result.h"

namespace ringscope {

/// Now, in ns.
inline uint64_t ClockNs(clockid_t clock) {
  timespec now = {};
  ::clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}
/// Now by the clock of a recording's times, in ns.
inline uint64_t BootTimeNs() { return ClockNs(CLOCK_BOOTTIME); }

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
    /// Forgets a report that is due for what was taken already: with edge-triggered events it would
    /// hide the place of what arrives next. What is there now is reported.
    Status Rearm();

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

/// A program that was started here.
class ChildProcess {
 public:
  /// Checks that a program can be started. kIo: it is not there.
  static Status Check(const std::string& program);
  /// Starts it with this process's environment.
  /// @param command the program, looked for in PATH, and its arguments
  static Result<std::unique_ptr<ChildProcess>> Start(const std::vector<std::string>& command);

  pid_t pid() const { return pid_; }
  /// Calls `on_end` once the program has ended, with how it ended, as text; empty: with status 0.
  Status WatchEnd(EventLoop& loop, std::function<void(std::string ending)> on_end);
  /// Asks it to end, if it has not.
  void Terminate() const;
  /// Waits until it has ended. @return how, as text; empty: with status 0
  std::string TakeEnding();

 private:
  ChildProcess(pid_t pid, UniqueFd fd) : pid_(pid), fd_(std::move(fd)) {}

  pid_t pid_;
  UniqueFd fd_;  // readable when the program has ended, and from then on
  EventLoop::WatchHandle watch_;
  bool ended_ = false;
};

/// Receives the signals that ask a program to end as events of a descriptor, until Restore: then
/// they have their former effect again. Threads that are started meanwhile do not get them.
class SignalWatch {
 public:
  static Result<SignalWatch> Create();
  ~SignalWatch() { Restore(); }
  SignalWatch(SignalWatch&& other) noexcept = default;
  SignalWatch& operator=(SignalWatch&&) = delete;

  /// Becomes readable when a signal has arrived.
  int fd() const { return fd_.get(); }
  /// Takes a signal, so that the descriptor shows the next one.
  void Take() const;
  void Restore();

 private:
  SignalWatch(UniqueFd fd, const sigset_t& before) : fd_(std::move(fd)), before_(before) {}

  UniqueFd fd_;
  sigset_t before_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_EVENT_LOOP_H_
