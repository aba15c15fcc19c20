#ifndef RINGSCOPE_COMMANDS_SHELL_EXIT_CODE_H_
#define RINGSCOPE_COMMANDS_SHELL_EXIT_CODE_H_

namespace ringscope {

/// How a run ended: its exit status.
enum class ExitCode : int {
  kClean = 0,
  kFailed = 1,  // not done; an error was printed
  kUsage = 2,   // the command line asks for something impossible
  kNotice = 3,  // done, with a finding: damage skipped, loss found
};

/// The worse of the exit codes of two parts of a run that both finished.
constexpr ExitCode Worse(ExitCode a, ExitCode b) { return a == ExitCode::kClean ? b : a; }

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_EXIT_CODE_H_
