#include "commands/record/process.h"

#include <fmt/format.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

extern char** environ;

namespace ringscope {
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
