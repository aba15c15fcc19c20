#include "commands/plugin/guard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>

#include "commands/plugin/plugin.h"
#include "commands/shell/exit_code.h"
#include "commands/shell/text.h"
#include "commands/shell/values.h"
#include "formats/io/descriptor_io.h"
#include "formats/io/output_file.h"

namespace ringscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPollMs = 50;
constexpr size_t kMostThreads = 64;

/// The calls of one thread of the child.
struct CallSlot {
  std::atomic<uint64_t> calls;        // odd: one is under way
  std::atomic<const char*> function;  // a literal, which both processes have
  std::atomic<uint64_t> record;       // its number and 1; 0: none
  std::atomic<uint32_t> plugin;       // index in GuardMemory::plugins
  std::array<char, 96> work;
};

/// Memory that a guarded child shares with its parent.
struct GuardMemory {
  std::atomic<uint32_t> threads;
  std::array<CallSlot, kMostThreads> slots;
};

GuardMemory* guard_memory = nullptr;  // in the child; nullptr: not guarded
const std::vector<std::string>* guarded_plugins = nullptr;

/// Returns this thread's slot, or nullptr where nothing is guarded.
CallSlot* OwnSlot() {
  if (guard_memory == nullptr) return nullptr;
  thread_local const uint32_t index = guard_memory->threads++;
  return index < kMostThreads ? &guard_memory->slots[index] : nullptr;
}

/// A child process that runs a body, and the watch over it.
class GuardedChild {
 public:
  GuardedChild(const PluginLimits& limits, const std::vector<std::string>& plugins)
      : limits_(limits), plugins_(plugins) {}
  ~GuardedChild() {
    for (const int fd : {end_[0], end_[1], signals_})
      if (fd >= 0) ::close(fd);
    if (memory_ != nullptr) ::munmap(memory_, sizeof(GuardMemory));
  }
  GuardedChild(const GuardedChild&) = delete;
  GuardedChild& operator=(const GuardedChild&) = delete;

  Result<int> Run(const std::function<int()>& body) {
    void* const memory = ::mmap(nullptr, sizeof(GuardMemory), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || ::pipe2(end_, O_CLOEXEC) != 0) return StartError();
    memory_ = new (memory) GuardMemory{};
    sigset_t forwarded, before;
    sigemptyset(&forwarded);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&forwarded, signal);
    ::sigprocmask(SIG_BLOCK, &forwarded, &before);
    signals_ = ::signalfd(-1, &forwarded, SFD_CLOEXEC | SFD_NONBLOCK);
    child_ = ::fork();
    if (child_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);
      ::sigprocmask(SIG_SETMASK, &before, nullptr);
      guard_memory = memory_;
      guarded_plugins = &plugins_;
      ::_exit(body());
    }
    if (child_ > 0) {
      ::close(std::exchange(end_[1], -1));
      WatchUntilEnd();
    }
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return child_ > 0 ? Outcome() : StartError();
  }

 private:
  static tl::unexpected<Error> StartError() {
    return SystemError("cannot start a process for a plug-in", errno, {});
  }

  /// Returns when the child has ended: `end_` has a writer as long as the child lives.
  void WatchUntilEnd() {
    pollfd fds[] = {{end_[0], POLLIN, 0}, {signals_, POLLIN, 0}};
    while (true) {
      ::poll(fds, 2, kPollMs);
      if (fds[0].revents != 0) break;
      signalfd_siginfo info;
      if (fds[1].revents != 0 && ::read(signals_, &info, sizeof(info)) == sizeof(info))
        ::kill(child_, static_cast<int>(info.ssi_signo));
      if (limit_.empty()) CheckLimits();
    }
    while (::waitpid(child_, &status_, 0) < 0 && errno == EINTR) continue;
  }

  void CheckLimits() {
    const Clock::time_point now = Clock::now();
    for (size_t i = 0; i < kMostThreads; ++i) {
      const uint64_t calls = memory_->slots[i].calls;
      if (calls != seen_[i].calls) seen_[i] = {calls, now};
      if (calls % 2 == 1 && now - seen_[i].since >= std::chrono::nanoseconds(limits_.time_ns)) {
        End(fmt::format("it did not return within {} s (RINGSCOPE_PLUGIN_TIME)",
                        static_cast<double>(limits_.time_ns) / 1e9));
      }
    }
    std::ifstream file(fmt::format("/proc/{}/statm", child_));
    uint64_t total = 0, resident = 0;
    file >> total >> resident;
    if (resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) > limits_.memory) {
      End(fmt::format("it used more than {} of memory (RINGSCOPE_PLUGIN_MEMORY)",
                      HumanSize(limits_.memory)));
    }
  }

  void End(std::string limit) {
    limit_ = std::move(limit);
    ::kill(child_, SIGKILL);
  }

  Result<int> Outcome() {
    const std::string calls = CallsUnderWay();
    const bool has_exited = WIFEXITED(status_);
    if (has_exited && calls.empty()) return WEXITSTATUS(status_);
    RemovePendingFiles();
    const int signal = has_exited ? 0 : WTERMSIG(status_);
    if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) {  // asked for, not a crash
      ::raise(signal);
      return static_cast<int>(ExitCode::kFailed);
    }
    const std::string how =
        !limit_.empty() ? "the plug-in was ended, as " + limit_
        : has_exited
            ? fmt::format("the plug-in ended the process with status {}", WEXITSTATUS(status_))
            : fmt::format("the plug-in was ended by signal {} ({})", signal, ::strsignal(signal));
    return Fail(
        ErrorCode::kDied, how + calls, {.path = plugins_[plugin_]},
        "correct the plug-in; with RINGSCOPE_PLUGIN_TIME=0 it has no guard, for a debugger");
  }

  /// Returns ", in 'commit' at record 17", or nothing where no call is under way.
  std::string CallsUnderWay() {
    std::string text;
    for (const CallSlot& slot : memory_->slots) {
      if (slot.calls % 2 == 0) continue;
      plugin_ = slot.plugin;
      text += fmt::format("{} in '{}'", text.empty() ? "," : " or", slot.function.load());
      if (slot.record > 0) text += fmt::format(" at record {}", slot.record - 1);
      if (slot.work[0] != '\0') text += fmt::format(" of {}", slot.work.data());
    }
    return text;
  }

  struct Seen {
    uint64_t calls = 0;
    Clock::time_point since;
  };

  const PluginLimits& limits_;
  const std::vector<std::string>& plugins_;
  GuardMemory* memory_ = nullptr;
  int end_[2] = {-1, -1};
  int signals_ = -1;
  pid_t child_ = -1;
  int status_ = 0;
  std::string limit_;  // that it exceeded
  std::array<Seen, kMostThreads> seen_{};
  size_t plugin_ = 0;  // index of the one that is named
};

}  // namespace

Result<PluginLimits> PluginLimits::FromEnvironment() {
  PluginLimits limits;
  const auto take = [](const char* name, auto parse, uint64_t& value) -> Status {
    const char* const text = std::getenv(name);
    if (text == nullptr || *text == '\0') return {};
    auto parsed = parse(text);
    if (!parsed) {
      parsed.error().message = fmt::format("{}: {}", name, parsed.error().message);
      return tl::unexpected(std::move(parsed).error());
    }
    value = *parsed;
    return {};
  };
  RS_RETURN_IF_ERROR(take("RINGSCOPE_PLUGIN_TIME", ParseDuration, limits.time_ns));
  RS_RETURN_IF_ERROR(take("RINGSCOPE_PLUGIN_MEMORY", ParseSize, limits.memory));
  return limits;
}

std::vector<std::string> PluginsOf(const CLI::App& app) {
  std::vector<std::string> plugins;
  for (const CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    if (type.find("ENGINE") == std::string::npos && type.find("PLUGIN") == std::string::npos)
      continue;
    for (const std::string& result : option->results()) {
      for (const std::string& one : CLI::detail::split(result, ',')) {
        const size_t equals = type.starts_with("[BUFFER=]") ? one.find('=') : std::string::npos;
        const std::string name = equals == std::string::npos ? one : one.substr(equals + 1);
        if (IsPluginPath(name) && std::find(plugins.begin(), plugins.end(), name) == plugins.end())
          plugins.push_back(name);
      }
    }
  }
  return plugins;
}

Result<int> RunGuarded(const PluginLimits& limits, const std::vector<std::string>& plugins,
                       const std::function<int()>& body) {
  return GuardedChild(limits, plugins).Run(body);
}

PluginCall::PluginCall(std::string_view plugin, const char* function, const LogMoment* now) {
  CallSlot* const slot = OwnSlot();
  if (slot == nullptr) return;
  for (uint32_t i = 0; i < guarded_plugins->size(); ++i)
    if ((*guarded_plugins)[i] == plugin) slot->plugin = i;
  slot->function = function;
  slot->record = now == nullptr || !now->record ? 0 : *now->record + 1;
  ++slot->calls;
}

PluginCall::~PluginCall() {
  if (CallSlot* const slot = OwnSlot()) ++slot->calls;
}

void NotePluginWork(std::string_view work) {
  CallSlot* const slot = OwnSlot();
  if (slot == nullptr) return;
  slot->work[work.copy(slot->work.data(), slot->work.size() - 1)] = '\0';
}

}  // namespace ringscope
