#ifndef RINGSCOPE_COMMANDS_PLUGIN_PROGRAMS_H_
#define RINGSCOPE_COMMANDS_PLUGIN_PROGRAMS_H_

#include <csignal>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace ringscope {

/// Runs compilers and other programs, without a shell. As long as this lives, SIGINT, SIGTERM and
/// SIGHUP end the programs that run, and with them Run, so that its caller can clean up.
class Programs {
 public:
  /// A program, looked for in PATH, and its arguments.
  using Words = std::vector<std::string>;

  Programs();
  ~Programs();
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  static bool IsThere(const std::string& program);

  /// Runs all, at most so many at once. Fails with the output of the first that does not end with
  /// status 0, or if a signal arrived.
  /// @param folder to run in; empty: the current one
  /// @return what they printed, on both streams
  Result<std::string> Run(const std::vector<Words>& commands, size_t at_once = 1,
                          const std::string& folder = {});
  /// Runs one, also after a signal: to clean up.
  void RunAnyway(const Words& command);

 private:
  struct Running;

  sigset_t watched_, before_;
  int signal_ = 0;  // that arrived
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PLUGIN_PROGRAMS_H_
