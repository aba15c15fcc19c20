#ifndef RINGSCOPE_COMMANDS_RECORD_CHILD_PROCESS_H_
#define RINGSCOPE_COMMANDS_RECORD_CHILD_PROCESS_H_

#include <signal.h>
#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands/record/event_loop.h"
#include "commands/record/unique_fd.h"
#include "core/base/result.h"

namespace ringscope {

/// What a program has that is not as this process has it.
struct ProgramSurroundings {
  /// A descriptor for both outputs; it then reads nothing, and is the leader of a group of its
  /// own, which a terminal's signals do not reach. -1: as this process.
  int output = -1;
  std::vector<int> inherited = {};  // further descriptors, which it has by the same numbers
};

/// A program that was started here.
class ChildProcess {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  /// Whether a program can be started: kIo if it is not there.
  static Status Check(const std::string& program);
  /// @param command the program, looked for in PATH, and its arguments
  /// @param variables set in its environment
  static Result<std::unique_ptr<ChildProcess>> Start(const std::vector<std::string>& command,
                                                     const Variables& variables,
                                                     const ProgramSurroundings& around = {});

  pid_t pid() const { return pid_; }
  /// Calls `on_end` once the program has ended, with how it ended, as text; empty: with status 0.
  Status WatchEnd(EventLoop& loop, std::function<void(std::string ending)> on_end);
  /// Asks it to end, and all of its group if it leads one. Nothing happens if it has ended.
  void Terminate() const { Send(SIGTERM); }
  /// Ends it, likewise.
  void Kill() const { Send(SIGKILL); }
  /// Whether it has ended. Does not wait.
  bool has_ended() const;
  /// Waits until it has ended. @return how, as text; empty: with status 0
  std::string TakeEnding();

 private:
  ChildProcess(pid_t pid, UniqueFd fd, bool leads_group)
      : pid_(pid), leads_group_(leads_group), fd_(std::move(fd)) {}
  void Send(int signal) const;

  pid_t pid_;
  bool leads_group_;
  UniqueFd fd_;  // readable when the program has ended, and from then on
  EventLoop::WatchHandle watch_;
  bool ended_ = false;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_CHILD_PROCESS_H_
