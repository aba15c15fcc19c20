#ifndef RINGSCOPE_COMMANDS_PLUGIN_PROGRAMS_H_
#define RINGSCOPE_COMMANDS_PLUGIN_PROGRAMS_H_

#include <signal.h>

#include <string>
#include <vector>

#include "core/base/result.h"

namespace ringscope::adapter {

/// Runs compilers and other programs to their end, without a shell, with their output collected.
/// As long as this lives, SIGINT, SIGTERM and SIGHUP end the programs that run, and with them Run,
/// so that its caller can clean up.
class Programs {
 public:
  /// A program, looked for in PATH, and its arguments.
  using Command = std::vector<std::string>;

  Programs();
  ~Programs();
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  static bool IsThere(const std::string& program);

  /// Runs all, at most so many at once. Fails with the first that does not end with status 0 or
  /// cannot be started, with what it printed, or if a signal arrived.
  /// @param folder to run in; empty: the current one
  /// @return what they printed, on both streams
  Result<std::string> Run(const std::vector<Command>& commands, size_t at_once = 1,
                          const std::string& folder = {});
  /// Runs one, also after a signal: to clean up.
  void RunAnyway(const Command& command);

 private:
  struct Running;

  /// Waits for output, an end or a signal.
  void Wait(std::vector<Running>& running, bool to_clean_up);
  Status Interruption() const;

  sigset_t before_;
  int signals_ = -1;
  int signal_ = 0;  // that arrived
};

}  // namespace ringscope::adapter

#endif  // RINGSCOPE_COMMANDS_PLUGIN_PROGRAMS_H_
