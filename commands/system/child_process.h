#ifndef RINGSCOPE_COMMANDS_SYSTEM_CHILD_PROCESS_H_
#define RINGSCOPE_COMMANDS_SYSTEM_CHILD_PROCESS_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands/system/event_loop.h"
#include "commands/system/unique_fd.h"
#include "core/base/result.h"

namespace ringscope::record {

/// A program that was started here.
class ChildProcess {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  /// Whether a program can be started: kIo if it is not there.
  static Status Check(const std::string& program);
  /// @param command the program, looked for in PATH, and its arguments
  /// @param variables set in its environment
  static Result<std::unique_ptr<ChildProcess>> Start(const std::vector<std::string>& command,
                                                     const Variables& variables);

  pid_t pid() const { return pid_; }
  /// Calls `on_end` once the program has ended, with how it ended, as text; empty: with status 0.
  Status WatchEnd(EventLoop& loop, std::function<void(std::string ending)> on_end);
  /// Asks it to end. Nothing happens if it has.
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

}  // namespace ringscope::record

#endif  // RINGSCOPE_COMMANDS_SYSTEM_CHILD_PROCESS_H_
