#ifndef RINGSCOPE_COMMANDS_RECORD_PROCESS_H_
#define RINGSCOPE_COMMANDS_RECORD_PROCESS_H_

#include <signal.h>
#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands/record/event_loop.h"

namespace ringscope {

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

#endif  // RINGSCOPE_COMMANDS_RECORD_PROCESS_H_
