#include "commands/plugin/programs.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>
#include <utility>

#include "formats/io/descriptor_io.h"

namespace ringscope {
namespace {

constexpr int kNotStarted = 127;  // as shells report it

[[noreturn]] void Execute(const Programs::Words& command, const std::string& folder, int output) {
  ::setpgid(0, 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_DFL);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const bool has_input = std::freopen("/dev/null", "r", stdin) != nullptr;
  if (has_input && (folder.empty() || ::chdir(folder.c_str()) == 0))
    ::execvp(arguments.front(), arguments.data());
  ::dprintf(STDERR_FILENO, "cannot start %s: %s\n", arguments.front(), std::strerror(errno));
  ::_exit(kNotStarted);
}

/// The first lines of what a program printed.
std::string FirstLines(const std::string& output) {
  constexpr size_t kLinesShown = 30;
  std::istringstream lines(output);
  std::string text;
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    if (count < kLinesShown) text += "\n" + line;
  return count <= kLinesShown ? text
                              : fmt::format("{}\n... and {} more lines", text, count - kLinesShown);
}

}  // namespace

/// A program that runs, as the leader of a group of its own.
struct Programs::Running {
  std::string name;
  std::unique_ptr<FILE, int (*)(FILE*)> output;
  pid_t pid = -1;
  int status = 0;  // once it has ended, as waitpid has it

  static Result<Running> Start(const Words& command, const std::string& folder,
                               const sigset_t& signals) {
    Running running{command.front(), {std::tmpfile(), std::fclose}};
    if (running.output) running.pid = ::fork();
    if (running.pid == 0) {
      ::pthread_sigmask(SIG_SETMASK, &signals, nullptr);
      Execute(command, folder, ::fileno(running.output.get()));
    }
    if (running.pid > 0) {
      ::setpgid(running.pid, running.pid);  // here, too: it may be signalled at once
      return running;
    }
    return SystemError(fmt::format("cannot start {}", command.front()), errno, {});
  }

  bool HasEnded(int options = WNOHANG) { return ::waitpid(pid, &status, options) == pid; }

  std::string Output() const {
    std::string text;
    std::rewind(output.get());
    char part[4096];
    while (const size_t size = std::fread(part, 1, sizeof(part), output.get()))
      text.append(part, size);
    return text;
  }

  Status Outcome(const std::string& printed) const {
    if (status == 0) return {};
    const std::string how = WIFEXITED(status)
                                ? fmt::format("ended with status {}", WEXITSTATUS(status))
                                : fmt::format("was ended by signal {} ({})", WTERMSIG(status),
                                              ::strsignal(WTERMSIG(status)));
    return Fail(ErrorCode::kIo, fmt::format("{} {}{}{}", name, how, printed.empty() ? "" : ":",
                                            FirstLines(printed)));
  }
};

Programs::Programs() {
  ::sigemptyset(&watched_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) ::sigaddset(&watched_, signal);
  ::pthread_sigmask(SIG_BLOCK, &watched_, &before_);
}

Programs::~Programs() {
  constexpr timespec kNoWait = {};
  while (::sigtimedwait(&watched_, nullptr, &kNoWait) > 0) continue;
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool Programs::IsThere(const std::string& program) {
  if (program.find('/') != std::string::npos) return ::access(program.c_str(), X_OK) == 0;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  return false;
}

Result<std::string> Programs::Run(const std::vector<Words>& commands, size_t at_once,
                                  const std::string& folder) {
  std::vector<Running> running;
  std::string output;
  Status first;
  const auto interrupt = [&](int signal) {
    // A second signal does not wait for the programs' own clean-up.
    for (const Running& one : running) ::kill(-one.pid, signal_ == 0 ? SIGTERM : SIGKILL);
    signal_ = signal;
    first = Fail(ErrorCode::kIo, fmt::format("ended by signal {}; nothing was written", signal));
  };
  if (signal_ != 0) interrupt(signal_);
  for (size_t next = 0; !running.empty() || (first && next < commands.size());) {
    if (first && next < commands.size() && running.size() < std::max<size_t>(at_once, 1)) {
      auto started = Running::Start(commands[next++], folder, before_);
      if (started)
        running.push_back(std::move(*started));
      else
        first = tl::unexpected(std::move(started).error());
      continue;
    }
    if (const int signal = ::sigwaitinfo(&watched_, nullptr); signal > 0 && signal != SIGCHLD)
      interrupt(signal);
    std::erase_if(running, [&](Running& one) {
      if (!one.HasEnded()) return false;
      const std::string printed = one.Output();
      output += printed;
      if (first) first = one.Outcome(printed);
      return true;
    });
    if (!first && signal_ == 0)
      for (const Running& one : running) ::kill(-one.pid, SIGTERM);
  }
  RS_RETURN_IF_ERROR(first);
  return output;
}

void Programs::RunAnyway(const Words& command) {
  auto started = Running::Start(command, {}, before_);
  if (started) started->HasEnded(0);
}

}  // namespace ringscope
