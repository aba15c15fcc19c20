#ifndef RINGSCOPE_COMMANDS_RECORD_CHILD_PROCESS_H_
#define RINGSCOPE_COMMANDS_RECORD_CHILD_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands/record/unique_fd.h"
#include "core/result.h"

namespace ringscope::record {

/// A program that was started here.
class ChildProcess {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  /// @param command the program, looked for in PATH, and its arguments
  /// @param variables set in its environment
  static Result<std::unique_ptr<ChildProcess>> Start(const std::vector<std::string>& command,
                                                     const Variables& variables);

  pid_t pid() const { return pid_; }
  /// Becomes readable when the program has ended.
  int fd() const { return fd_.get(); }
  /// Asks it to end. Nothing happens if it has.
  void Terminate() const;
  /// Once fd() is readable: how it ended, in words; empty: well.
  std::string TakeEnding();

 private:
  ChildProcess(pid_t pid, UniqueFd fd) : pid_(pid), fd_(std::move(fd)) {}

  pid_t pid_;
  UniqueFd fd_;
  bool ended_ = false;
};

}  // namespace ringscope::record

#endif  // RINGSCOPE_COMMANDS_RECORD_CHILD_PROCESS_H_
