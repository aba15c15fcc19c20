#ifndef RINGSCOPE_COMMANDS_SHELL_COMMAND_H_
#define RINGSCOPE_COMMANDS_SHELL_COMMAND_H_

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "commands/shell/console.h"
#include "core/base/result.h"
#include "formats/io/output_file.h"

// CLI11's types, for headers: <CLI/CLI.hpp> takes seconds to compile wherever it is included.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace ringscope {

/// Surroundings of a command's run, besides its own options.
struct Context {
  Console& console;
  unsigned threads = 0;  // that it may use; 0: as many as there are cores
  /// Files that the run reads, and those that it replaces: no file may be both.
  std::shared_ptr<RunFiles> files = RunFiles::Join();
};

/// "ringscope 0.1.0"
inline std::string ToolVersion() { return fmt::format("{} {}", kToolName, kToolVersion); }

/// How a run ended: its exit status.
enum class ExitCode : int {
  kClean = 0,
  kFailed = 1,  // not done; an error was printed
  kUsage = 2,   // the command line asks for something impossible
  kNotice = 3,  // done, with a finding: damage skipped, loss found
};

/// The worse of the exit codes of two parts of a run that both finished.
constexpr ExitCode Worse(ExitCode a, ExitCode b) { return a == ExitCode::kClean ? b : a; }

/// A command with its options filled in.
using Runner = std::function<Result<ExitCode>(Context&)>;

struct Example {
  const char* command;
  const char* what;  // it does, or answers
};

inline constexpr const char* kDamagedInput =
    "Done, but the input was damaged; what could be read was used.";

/// Meanings of a command's exit statuses: one or more sentences each.
struct ExitMeanings {
  const char* clean = "Done.";
  const char* notice = kDamagedInput;  // nullptr if the command never ends so
  const char* failed = "Failed. The message reports where, what was expected, and what to do.";
  const char* usage = "The command line asks for something that is not possible.";
};

/// One command of the tool. Help, man pages and completions derive from this.
struct Command {
  const char* name;
  const char* summary;  // one line, no full stop
  const char* description;
  std::vector<Example> examples;
  /// Adds the command's options to `app`. The runner uses what a later parse puts into them.
  std::function<Runner(CLI::App& app)> bind;
  ExitMeanings exits = {};
  const char* group = "";  // heading in the overview, see Commands
};

/// Binds an options struct: `set_up` adds its options to an app, `run` gets it filled in.
template <typename Args>
std::function<Runner(CLI::App&)> Bind(void (*set_up)(CLI::App&, Args&),
                                      Result<ExitCode> (*run)(const Args&, Context&)) {
  return [=](CLI::App& app) -> Runner {
    auto args = std::make_shared<Args>();
    set_up(app, *args);
    return [=](Context& context) { return run(*args, context); };
  };
}

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_COMMAND_H_
