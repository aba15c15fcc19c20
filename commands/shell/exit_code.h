#ifndef RINGSCOPE_COMMANDS_SHELL_EXIT_CODE_H_
#define RINGSCOPE_COMMANDS_SHELL_EXIT_CODE_H_

namespace ringscope {

/// How a run ended, as its exit status says it.
enum class ExitCode : int {
  kClean = 0,
  kFailed = 1,  // not done; an error was printed
  kUsage = 2,   // the command line asks for something that cannot be
  kNotice = 3,  // done, and there is something to know: damage skipped, loss found
};

/// The graver of two endings of parts of one run that both finished.
constexpr ExitCode Worse(ExitCode a, ExitCode b) { return a == ExitCode::kClean ? b : a; }

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_EXIT_CODE_H_
