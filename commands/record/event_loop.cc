#include "commands/record/event_loop.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

namespace ringscope::record {

Result<std::unique_ptr<EventLoop>> EventLoop::Create() {
  UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!epoll.valid() || !wake.valid()) {
    return Fail(ErrorCode::kIo, fmt::format("cannot wait for events: {}", std::strerror(errno)));
  }
  return std::unique_ptr<EventLoop>(new EventLoop(std::move(epoll), std::move(wake)));
}

EventLoop::EventLoop(UniqueFd epoll, UniqueFd wake)
    : epoll_(std::move(epoll)), wake_(std::move(wake)) {
  Watch(wake_.get(), EPOLLIN, [this](uint32_t) {
    uint64_t count = 0;
    static_cast<void>(::read(wake_.get(), &count, sizeof(count)) > 0);
  });
}

EventLoop::WatchId EventLoop::Watch(int fd, uint32_t events, Handler handler) {
  const WatchId id = next_id_++;
  watched_[id] = std::make_shared<Watched>(Watched{fd, events, std::move(handler)});
  epoll_event event = {};
  event.events = events;
  event.data.u64 = id;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
  return id;
}

void EventLoop::SetEvents(WatchId id, uint32_t events) {
  const auto found = watched_.find(id);
  if (found == watched_.end() || found->second->events == events) return;
  // A descriptor of no interest is taken out: epoll would go on telling that its peer hung up.
  const int operation = events == 0                  ? EPOLL_CTL_DEL
                        : found->second->events == 0 ? EPOLL_CTL_ADD
                                                     : EPOLL_CTL_MOD;
  found->second->events = events;
  epoll_event event = {};
  event.events = events;
  event.data.u64 = id;
  ::epoll_ctl(epoll_.get(), operation, found->second->fd, &event);
}

void EventLoop::Unwatch(WatchId id) {
  SetEvents(id, 0);
  watched_.erase(id);
}

void EventLoop::CallAt(Clock::time_point time, std::function<void()> call) {
  calls_.emplace(time, std::move(call));
}

void EventLoop::RunUntil(const std::function<bool()>& done) {
  std::array<epoll_event, 64> events;
  while (!done()) {
    const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), TimeoutMs());
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<size_t>(i)];
      const auto found = watched_.find(event.data.u64);
      if (found == watched_.end()) continue;  // unwatched by a handler of this round
      const std::shared_ptr<Watched> watched = found->second;  // it may unwatch itself
      watched->handler(event.events);
    }
    CallDue();
  }
}

void EventLoop::Wake() {
  const uint64_t one = 1;
  static_cast<void>(::write(wake_.get(), &one, sizeof(one)) > 0);
}

int EventLoop::TimeoutMs() const {
  if (calls_.empty()) return -1;
  const auto now = Clock::now();
  if (calls_.begin()->first <= now) return 0;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(calls_.begin()->first - now).count();
  return static_cast<int>(std::min<int64_t>(left, 60'000));
}

void EventLoop::CallDue() {
  // Only what is due now: a call that asks for another must not keep the loop from its events.
  std::vector<std::function<void()>> due;
  const auto now = Clock::now();
  while (!calls_.empty() && calls_.begin()->first <= now)
    due.push_back(std::move(calls_.extract(calls_.begin()).mapped()));
  for (const auto& call : due) call();
}

}  // namespace ringscope::record
