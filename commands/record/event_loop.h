#ifndef RINGSCOPE_COMMANDS_RECORD_EVENT_LOOP_H_
#define RINGSCOPE_COMMANDS_RECORD_EVENT_LOOP_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>

#include "commands/record/unique_fd.h"
#include "core/result.h"

namespace ringscope::record {

/// Waits for descriptors and times, and calls who asked. One thread; only Stop may be called from
/// others.
class EventLoop {
 public:
  using Clock = std::chrono::steady_clock;
  /// @param events of epoll: EPOLLIN, EPOLLOUT, EPOLLHUP, ...
  using Handler = std::function<void(uint32_t events)>;
  using WatchId = uint64_t;

  static Result<std::unique_ptr<EventLoop>> Create();

  /// Calls `handler` whenever `fd` is ready. The descriptor must stay open until Unwatch.
  WatchId Watch(int fd, uint32_t events, Handler handler);
  /// @param events 0: nothing is of interest, not even that the peer hung up
  void SetEvents(WatchId id, uint32_t events);
  /// No call follows, even if one is due.
  void Unwatch(WatchId id);
  /// Calls once, at that time or soon after.
  void CallAt(Clock::time_point time, std::function<void()> call);
  /// Calls when what is being handled now is done.
  void CallSoon(std::function<void()> call) { CallAt(Clock::time_point::min(), std::move(call)); }

  /// Handles events until `done` says true; it is asked after each round.
  void RunUntil(const std::function<bool()>& done);
  /// Makes RunUntil ask `done` again. From any thread.
  void Wake();

 private:
  struct Watched {
    int fd = -1;
    uint32_t events = 0;
    Handler handler;
  };

  EventLoop(UniqueFd epoll, UniqueFd wake);
  int TimeoutMs() const;
  void CallDue();

  UniqueFd epoll_;
  UniqueFd wake_;
  WatchId next_id_ = 1;
  std::unordered_map<WatchId, std::shared_ptr<Watched>> watched_;
  std::multimap<Clock::time_point, std::function<void()>> calls_;
};

}  // namespace ringscope::record

#endif  // RINGSCOPE_COMMANDS_RECORD_EVENT_LOOP_H_
