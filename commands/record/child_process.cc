#include "commands/record/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

extern char** environ;

namespace ringscope {
namespace {

/// The environment of this process with some variables set otherwise.
std::vector<std::string> MakeEnvironment(const ChildProcess::Variables& variables) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    bool replaced = false;
    for (const auto& [name, value] : variables) replaced |= text.starts_with(name + "=");
    if (!replaced) environment.emplace_back(text);
  }
  for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
  return environment;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

Error CannotStart(const std::string& program, int error) {
  return {ErrorCode::kIo,
          fmt::format("cannot start {}: {}", program, std::strerror(error)),
          {},
          "check the name after --"};
}

}  // namespace

Status ChildProcess::Check(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    if (::access(program.c_str(), X_OK) == 0) return {};
    return tl::unexpected(CannotStart(program, errno));
  }
  const char* path = ::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return {};
  return tl::unexpected(CannotStart(program, ENOENT));
}

Result<std::unique_ptr<ChildProcess>> ChildProcess::Start(const std::vector<std::string>& command,
                                                          const Variables& variables,
                                                          const ProgramSurroundings& around) {
  std::vector<std::string> arguments = command;
  std::vector<std::string> environment = MakeEnvironment(variables);
  // The program gets signals as any other does, whatever this process does with its own.
  posix_spawnattr_t attributes;
  sigset_t none, all;
  ::sigemptyset(&none);
  ::sigemptyset(&all);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) ::sigaddset(&all, signal);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  const bool leads_group = around.output >= 0;
  if (leads_group) {
    flags |= POSIX_SPAWN_SETPGROUP;
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files, around.output, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&files, around.output, STDERR_FILENO);
  }
  // Onto itself: it is then inherited.
  for (const int fd : around.inherited) ::posix_spawn_file_actions_adddup2(&files, fd, fd);
  ::posix_spawnattr_setflags(&attributes, flags);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, arguments.front().c_str(), &files, &attributes,
                                   Pointers(arguments).data(), Pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return tl::unexpected(CannotStart(command.front(), error));
  UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  auto child = std::unique_ptr<ChildProcess>(new ChildProcess(pid, std::move(fd), leads_group));
  if (!child->fd_.valid()) {
    const int why = errno;
    child->Terminate();
    return Fail(ErrorCode::kUnsupported,
                fmt::format("cannot watch {}: {}", command.front(), std::strerror(why)), {},
                "needs Linux 5.3; start the program by itself and let its environment name the "
                "socket");
  }
  return child;
}

void ChildProcess::Send(int signal) const {
  if (!ended_) ::kill(leads_group_ ? -pid_ : pid_, signal);
}

Status ChildProcess::WatchEnd(EventLoop& loop, std::function<void(std::string ending)> on_end) {
  RS_ASSIGN_OR_RETURN(watch_,
                      loop.Watch(fd_.get(), EPOLLIN, [this, on_end = std::move(on_end)](uint32_t) {
                        watch_.Reset();
                        on_end(TakeEnding());
                      }));
  return {};
}

bool ChildProcess::has_ended() const {
  pollfd watched = {.fd = fd_.get(), .events = POLLIN, .revents = 0};
  return ended_ || ::poll(&watched, 1, 0) > 0;
}

std::string ChildProcess::TakeEnding() {
  int status = 0;
  pid_t waited = 0;
  do {
    waited = ::waitpid(pid_, &status, 0);
  } while (waited < 0 && errno == EINTR);
  ended_ = true;
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    const char* const name = ::sigdescr_np(signal);
    return fmt::format("was ended by signal {}{}", signal,
                       name == nullptr ? "" : fmt::format(" ({})", name));
  }
  if (WEXITSTATUS(status) != 0) return fmt::format("ended with status {}", WEXITSTATUS(status));
  return {};
}

}  // namespace ringscope
