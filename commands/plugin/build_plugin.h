#ifndef RINGSCOPE_COMMANDS_PLUGIN_BUILD_PLUGIN_H_
#define RINGSCOPE_COMMANDS_PLUGIN_BUILD_PLUGIN_H_

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
  using CommandLine = std::vector<std::string>;

  Programs();
  ~Programs();
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  static bool IsThere(const std::string& program);

  /// Runs all, at most so many at once. Fails with the output of the first that does not end with
  /// status 0, or if a signal arrived.
  /// @param folder to run in; empty: the current one
  /// @return what they printed, on both streams
  Result<std::string> Run(const std::vector<CommandLine>& commands, size_t at_once = 1,
                          const std::string& folder = {});
  /// Runs one, also after a signal: to clean up.
  void RunAnyway(const CommandLine& command);

 private:
  struct Running;

  sigset_t watched_, before_;
  int signal_ = 0;  // that arrived
};

struct PluginBuildOptions {
  std::string perfetto;  // a checkout
  std::string out;       // a build folder with generated headers; empty: looked for
  std::string commit;    // of git, in place of what is checked out; empty: none
  std::string buffer;    // "v1" or "v2" alone; empty: both, as far as there are both
  std::string compiler;  // and what precedes its arguments: "ccache g++"
  bool asan = false;
  unsigned at_once = 1;  // compilers
};

struct BuiltPlugin {
  size_t sources = 0;              // of Perfetto that were compiled
  std::vector<std::string> notes;  // what the user should know
};

/// Compiles the adapter with a checkout's buffers.
/// @param to the file to write
Result<BuiltPlugin> BuildPlugin(const PluginBuildOptions& options, const std::string& to);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PLUGIN_BUILD_PLUGIN_H_
