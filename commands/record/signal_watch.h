#ifndef RINGSCOPE_COMMANDS_RECORD_SIGNAL_WATCH_H_
#define RINGSCOPE_COMMANDS_RECORD_SIGNAL_WATCH_H_

#include <signal.h>

#include "commands/record/unique_fd.h"
#include "core/base/result.h"

namespace ringscope {

/// Receives the signals that ask a program to end, and SIGUSR1, as events of a descriptor, until
/// Restore: then they have their former effect again. Threads that are started meanwhile do not get
/// them.
class SignalWatch {
 public:
  static Result<SignalWatch> Create();
  ~SignalWatch() { Restore(); }
  SignalWatch(SignalWatch&& other) noexcept = default;
  SignalWatch& operator=(SignalWatch&&) = delete;

  /// Becomes readable when a signal has arrived.
  int fd() const { return fd_.get(); }
  /// Takes a signal. @return its number; 0: there is none
  int Take();
  void Restore();

 private:
  SignalWatch(UniqueFd fd, const sigset_t& before) : fd_(std::move(fd)), before_(before) {}

  UniqueFd fd_;
  sigset_t before_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_SIGNAL_WATCH_H_
