#include "commands/record/event_loop.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

extern char** environ;

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

Status EventLoop::Watched::Rearm() {
  const uint32_t events = events_;
  RS_RETURN_IF_ERROR(SetEvents(0));
  return SetEvents(events);
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

namespace {

tl::unexpected<Error> CannotStart(const std::string& program, int error) {
  return Fail(ErrorCode::kIo, fmt::format("cannot start {}: {}", program, std::strerror(error)), {},
              "check the name after --");
}

}  // namespace

Status ChildProcess::Check(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    if (::access(program.c_str(), X_OK) == 0) return {};
    return CannotStart(program, errno);
  }
  const char* path = ::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return {};
  return CannotStart(program, ENOENT);
}

Result<std::unique_ptr<ChildProcess>> ChildProcess::Start(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& text : command) arguments.push_back(const_cast<char*>(text.c_str()));
  arguments.push_back(nullptr);
  // The program gets signals as any other does, whatever this process does with its own.
  posix_spawnattr_t attributes;
  sigset_t none, all;
  ::sigemptyset(&none);
  ::sigemptyset(&all);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) ::sigaddset(&all, signal);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int error =
      ::posix_spawnp(&pid, arguments.front(), nullptr, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return CannotStart(command.front(), error);
  UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  const int why = errno;
  auto child = std::unique_ptr<ChildProcess>(new ChildProcess(pid, std::move(fd)));
  if (child->fd_.valid()) return child;
  child->Terminate();
  return Fail(ErrorCode::kUnsupported,
              fmt::format("cannot watch {}: {}", command.front(), std::strerror(why)), {},
              "needs Linux 5.3; start the program by itself and let its environment name the "
              "socket");
}

void ChildProcess::Terminate() const {
  if (!ended_) ::kill(pid_, SIGTERM);
}

Status ChildProcess::WatchEnd(EventLoop& loop, std::function<void(std::string ending)> on_end) {
  RS_ASSIGN_OR_RETURN(watch_,
                      loop.Watch(fd_.get(), EPOLLIN, [this, on_end = std::move(on_end)](uint32_t) {
                        watch_.reset();
                        on_end(TakeEnding());
                      }));
  return {};
}

std::string ChildProcess::TakeEnding() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
  ended_ = true;
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    const char* const name = ::sigdescr_np(signal);
    return fmt::format("was ended by signal {}{}", signal,
                       name == nullptr ? "" : fmt::format(" ({})", name));
  }
  if (WEXITSTATUS(status) != 0) return fmt::format("ended with status {}", WEXITSTATUS(status));
  return {};
}

Result<SignalWatch> SignalWatch::Create() {
  sigset_t signals, before;
  ::sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // A signal that is ignored from the start stays ignored (nohup, a shell's background job).
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
      ::sigaddset(&signals, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &signals, &before);
  UniqueFd fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) {
    const int error = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return Fail(ErrorCode::kIo, fmt::format("cannot wait for signals: {}", std::strerror(error)));
  }
  return SignalWatch(std::move(fd), before);
}

void SignalWatch::Take() const {
  signalfd_siginfo info = {};
  while (::read(fd_.get(), &info, sizeof(info)) < 0 && errno == EINTR) continue;
}

void SignalWatch::Restore() {
  if (!fd_.valid()) return;
  fd_.Reset();
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace ringscope
