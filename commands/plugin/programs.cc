#include "commands/plugin/programs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sstream>
#include <utility>

#include "formats/io/descriptor_io.h"

namespace ringscope::adapter {
namespace {

constexpr size_t kMostOutput = size_t{1} << 20;
constexpr size_t kLinesShown = 30;

/// The first lines of what a program printed.
std::string FirstLines(const std::string& output) {
  size_t end = 0;
  for (size_t line = 0; line < kLinesShown && end < output.size(); ++line)
    end = std::min(output.find('\n', end), output.size() - 1) + 1;
  std::string text = output.substr(0, end);
  while (text.ends_with('\n')) text.pop_back();
  const auto more =
      std::count(output.begin() + static_cast<std::ptrdiff_t>(end), output.end(), '\n');
  return more > 0 ? fmt::format("{}\n... and {} more lines", text, more) : text;
}

}  // namespace

/// A program that runs, as the leader of a group of its own.
struct Programs::Running {
  std::string name;
  pid_t pid = -1;
  int output_fd = -1;
  std::string output;
  std::optional<int> status;  // as waitpid has it; nullopt while it runs

  static Result<Running> Start(const Command& command, const std::string& folder) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return SystemError("cannot make a pipe", errno, {});
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    if (!folder.empty()) ::posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    ::sigemptyset(&none);
    ::sigemptyset(&defaults);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ})
      ::sigaddset(&defaults, signal);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    Running running{.name = command.front(), .output_fd = ends[0]};
    const int error = ::posix_spawnp(&running.pid, arguments.front(), &actions, &attributes,
                                     arguments.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (error == 0) return running;
    ::close(ends[0]);
    return SystemError(fmt::format("cannot start {}", command.front()), error, {},
                       "install it, or make PATH name its folder");
  }

  /// Takes in what is there; waits for the program's end once that was all.
  void Read() {
    char part[4096];
    while (true) {
      const ssize_t got = ::read(output_fd, part, sizeof(part));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) break;
      output.append(part, std::min(static_cast<size_t>(got), kMostOutput - output.size()));
    }
    ::close(output_fd);
    int end = 0;
    while (::waitpid(pid, &end, 0) < 0 && errno == EINTR) continue;
    status = end;
  }

  Status Outcome() const {
    if (*status == 0) return {};
    const std::string how = WIFEXITED(*status)
                                ? fmt::format("ended with status {}", WEXITSTATUS(*status))
                                : fmt::format("was ended by signal {} ({})", WTERMSIG(*status),
                                              ::strsignal(WTERMSIG(*status)));
    return Fail(ErrorCode::kIo, fmt::format("{} {}{}", name, how,
                                            output.empty() ? "" : ":\n" + FirstLines(output)));
  }
};

Programs::Programs() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
  signals_ = ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

Programs::~Programs() {
  signalfd_siginfo info;
  while (::read(signals_, &info, sizeof(info)) == sizeof(info)) continue;
  ::close(signals_);
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

Status Programs::Interruption() const {
  if (signal_ == 0) return {};
  return Fail(ErrorCode::kIo, fmt::format("ended by signal {}; nothing was written", signal_));
}

void Programs::Wait(std::vector<Running>& running, bool to_clean_up) {
  std::vector<pollfd> fds = {{to_clean_up ? -1 : signals_, POLLIN, 0}};
  for (const Running& one : running) fds.push_back({one.output_fd, POLLIN, 0});
  ::poll(fds.data(), fds.size(), running.empty() ? 0 : -1);
  signalfd_siginfo info;
  while (!to_clean_up && ::read(signals_, &info, sizeof(info)) == sizeof(info)) {
    // A second signal does not wait for the programs' own clean-up.
    for (const Running& one : running) ::kill(-one.pid, signal_ == 0 ? SIGTERM : SIGKILL);
    signal_ = static_cast<int>(info.ssi_signo);
  }
  for (size_t i = 0; i < running.size(); ++i)
    if (fds[i + 1].revents != 0) running[i].Read();
}

Result<std::string> Programs::Run(const std::vector<Command>& commands, size_t at_once,
                                  const std::string& folder) {
  std::vector<Running> running;
  std::string output;
  Status first;
  for (size_t next = 0;;) {
    Wait(running, false);
    if (first) first = Interruption();
    for (const Running& one : running) {
      if (!one.status) continue;
      output += one.output;
      if (first) first = one.Outcome();
    }
    std::erase_if(running, [](const Running& one) { return one.status.has_value(); });
    if (!first)
      for (const Running& one : running) ::kill(-one.pid, SIGTERM);
    while (first && next < commands.size() && running.size() < std::max<size_t>(at_once, 1)) {
      auto started = Running::Start(commands[next++], folder);
      if (started)
        running.push_back(std::move(*started));
      else
        first = tl::unexpected(std::move(started).error());
    }
    if (!running.empty()) continue;
    RS_RETURN_IF_ERROR(first);
    return output;
  }
}

void Programs::RunAnyway(const Command& command) {
  auto started = Running::Start(command, {});
  if (!started) return;
  std::vector<Running> running = {std::move(*started)};
  while (!running[0].status) Wait(running, true);
}

}  // namespace ringscope::adapter
