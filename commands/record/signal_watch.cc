#include "commands/record/signal_watch.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <cstring>

namespace ringscope {

Result<SignalWatch> SignalWatch::Create() {
  sigset_t signals, before;
  ::sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
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
    return Fail(ErrorCode::kIo, fmt::format("cannot wait for signals: {}", strerror(error)));
  }
  return SignalWatch(std::move(fd), before);
}

int SignalWatch::Take() {
  signalfd_siginfo info = {};
  return ::read(fd_.get(), &info, sizeof(info)) == sizeof(info) ? static_cast<int>(info.ssi_signo)
                                                                : 0;
}

void SignalWatch::Restore() {
  if (!fd_.valid()) return;
  fd_.Reset();
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace ringscope
