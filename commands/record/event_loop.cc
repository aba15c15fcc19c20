#include "commands/record/event_loop.h"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

namespace ringscope {

Result<std::unique_ptr<EventLoop>> EventLoop::Create() {
  UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid())
    return Fail(ErrorCode::kIo, fmt::format("cannot wait for events: {}", std::strerror(errno)));
  return std::unique_ptr<EventLoop>(new EventLoop(std::move(epoll)));
}

EventLoop::Watched::Watched(EventLoop& loop, int fd, Handler handler)
    : loop_(loop),
      id_(++loop.last_id_),
      fd_(fd),
      handler_(std::make_shared<const Handler>(std::move(handler))) {
  loop_.watched_[id_] = this;
}

EventLoop::Watched::~Watched() {
  static_cast<void>(SetEvents(0));  // fails only for a descriptor that is closed already
  loop_.watched_.erase(id_);
}

Status EventLoop::Watched::SetEvents(uint32_t events) {
  if (events_ == events) return {};
  // A descriptor of no interest is taken out: epoll would report again and again that its peer
  // hung up.
  const int operation = events == 0 ? EPOLL_CTL_DEL : events_ == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  epoll_event event = {};
  event.events = events;
  event.data.u64 = id_;
  if (::epoll_ctl(loop_.epoll_.get(), operation, fd_, &event) != 0) {
    return Fail(ErrorCode::kIo,
                fmt::format("cannot watch a file descriptor: {}", std::strerror(errno)));
  }
  events_ = events;
  return {};
}

Result<EventLoop::WatchHandle> EventLoop::Watch(int fd, uint32_t events, Handler handler) {
  WatchHandle watched(new Watched(*this, fd, std::move(handler)));
  RS_RETURN_IF_ERROR(watched->SetEvents(events));
  return watched;
}

EventLoop::Timer EventLoop::CallAt(Clock::time_point time, std::function<void()> call) {
  auto timer = std::make_shared<const std::function<void()>>(std::move(call));
  calls_.emplace(time, timer);
  return timer;
}

void EventLoop::RunUntil(const std::function<bool()>& done) {
  std::array<epoll_event, 64> events;
  while (!done()) {
    const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), TimeoutMs());
    for (int i = 0; i < count; ++i) {
      const epoll_event event = events[static_cast<size_t>(i)];
      const uint64_t id = event.data.u64;  // a copy: the structure is packed
      const auto found = watched_.find(id);
      if (found == watched_.end()) continue;  // unwatched by a handler of this round
      const auto handler = found->second->handler_;
      (*handler)(event.events);
    }
    CallDue();
  }
}

int EventLoop::TimeoutMs() {
  while (!calls_.empty() && calls_.begin()->second.expired()) calls_.erase(calls_.begin());
  if (calls_.empty()) return -1;
  const auto now = Clock::now();
  if (calls_.begin()->first <= now) return 0;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(calls_.begin()->first - now).count();
  return static_cast<int>(std::min<int64_t>(left, 60'000));
}

void EventLoop::CallDue() {
  // Only what is due now: a call that asks for another must not keep the loop from its events.
  std::vector<Timer::weak_type> due;
  const auto now = Clock::now();
  while (!calls_.empty() && calls_.begin()->first <= now)
    due.push_back(std::move(calls_.extract(calls_.begin()).mapped()));
  for (const auto& weak : due)  // one of them may cancel a later one
    if (const auto call = weak.lock()) (*call)();
}

}  // namespace ringscope
