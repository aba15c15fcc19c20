#ifndef RINGSCOPE_COMMANDS_RECORD_PROGRAM_RUNS_H_
#define RINGSCOPE_COMMANDS_RECORD_PROGRAM_RUNS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/record/event_loop.h"
#include "commands/record/signal_watch.h"
#include "core/base/result.h"

namespace ringscope {

/// Programs that do parts of a command's work: run to their end, without a shell, with their output
/// collected. From Create on, signals that ask to end are taken here: they end the programs that
/// run, and with them Run, so that its caller can clean up.
class ProgramRuns {
 public:
  /// A program, looked for in PATH, and its arguments.
  using Command = std::vector<std::string>;

  static Result<std::unique_ptr<ProgramRuns>> Create();

  /// @param folder to run in; empty: the current one
  /// @return what it printed, on both streams. Fails with that if it does not end with status 0,
  /// cannot be started, or a signal arrived.
  Result<std::string> Run(const Command& command, const std::string& folder = {});
  /// Runs all, at most so many at once. Fails with the first that does.
  Status RunAll(const std::vector<Command>& commands, unsigned at_once);
  /// The same as Run, also after a signal: to clean up.
  void RunAnyway(const Command& command, const std::string& folder);

 private:
  struct Running;

  ProgramRuns(std::unique_ptr<EventLoop> loop, SignalWatch signals)
      : loop_(std::move(loop)), signals_(std::move(signals)) {}
  Result<std::unique_ptr<Running>> Start(const Command& command, const std::string& folder);
  /// Waits until one of them has ended.
  void Wait(const std::vector<std::unique_ptr<Running>>& running);
  void TakeSignal();
  Status Interruption() const;

  std::unique_ptr<EventLoop> loop_;
  SignalWatch signals_;
  int signal_ = 0;  // that arrived
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_PROGRAM_RUNS_H_
