#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>

#include "commands/plugin/plugin.h"
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include "commands/shell/values.h"
#include "formats/io/output_file.h"

namespace ringscope {
namespace {

constexpr int kPollMs = 50;
constexpr size_t kMostThreads = 64;

/// The call of one thread of the child.
struct CallSlot {
  std::atomic<bool> is_taken;         // by a thread
  std::atomic<int64_t> since_ns;      // of the call under way, see NowNs; 0: none is
  std::atomic<const char*> function;  // a literal, which both processes have
  std::atomic<uint64_t> record;       // its number and 1; 0: none
  std::atomic<uint32_t> plugin;       // index among the guarded ones
  std::array<char, 96> work;
};
/// Memory that a guarded child shares with its parent.
using GuardMemory = std::array<CallSlot, kMostThreads>;

GuardMemory* guard_memory = nullptr;  // in the child; nullptr if it is not guarded
const std::vector<std::string>* guarded_plugins = nullptr;

/// By a clock that all processes share.
int64_t NowNs() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

CallSlot* TakeFreeSlot() {
  for (CallSlot& slot : *guard_memory)
    if (!slot.is_taken.exchange(true)) return &slot;
  return nullptr;
}
void FreeSlot(CallSlot* slot) {
  slot->work[0] = '\0';
  slot->is_taken = false;
}

/// Returns this thread's slot, which is free again when the thread ends. nullptr where nothing is
/// guarded.
CallSlot* OwnSlot() {
  if (guard_memory == nullptr) return nullptr;
  thread_local const std::unique_ptr<CallSlot, void (*)(CallSlot*)> own(TakeFreeSlot(), FreeSlot);
  return own.get();
}

/// @return what a guarded child exceeds; empty: nothing
std::string Exceeded(const PluginLimits& limits, const GuardMemory& memory, pid_t child) {
  for (const CallSlot& slot : memory) {
    const int64_t since_ns = slot.since_ns;
    if (since_ns != 0 && NowNs() - since_ns >= static_cast<int64_t>(limits.time_ns))
      return fmt::format("it did not return within {} s (RINGSCOPE_PLUGIN_TIME)",
                         static_cast<double>(limits.time_ns) / 1e9);
  }
  std::ifstream file(fmt::format("/proc/{}/statm", child));
  uint64_t total = 0, resident = 0;
  file >> total >> resident;
  if (resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) <= limits.memory) return {};
  return fmt::format("it used more than {} of memory (RINGSCOPE_PLUGIN_MEMORY)",
                     HumanSize(limits.memory));
}

/// Returns ", in 'commit' at record 17", or nothing where no call is under way.
/// @param plugin gets the index of the one that was called
std::string CallsUnderWay(const GuardMemory& memory, size_t& plugin) {
  std::string text;
  for (const CallSlot& slot : memory) {
    if (slot.since_ns == 0) continue;
    plugin = slot.plugin;
    text += fmt::format("{} in '{}'", text.empty() ? "," : " or", slot.function.load());
    if (slot.record > 0) text += fmt::format(" at record {}", slot.record - 1);
    if (slot.work[0] != '\0') text += fmt::format(" of {}", slot.work.data());
  }
  return text;
}

}  // namespace

Result<PluginLimits> PluginLimits::FromEnvironment() {
  PluginLimits limits;
  const auto take = [](const char* name, auto parse, uint64_t& value) -> Status {
    const char* const text = std::getenv(name);
    if (text == nullptr || *text == '\0') return {};
    RS_ASSIGN_OR_RETURN(value, parse(text).map_error([&](Error error) {
      error.message = fmt::format("{}: {}", name, error.message);
      return error;
    }));
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
    for (const std::string& result : option->results())
      for (const std::string& one : CLI::detail::split(result, ',')) {
        const std::string name =
            type.starts_with("[BUFFER=]") ? one.substr(one.find('=') + 1) : one;
        if (IsPluginPath(name) && !Contains(plugins, name)) plugins.push_back(name);
      }
  }
  return plugins;
}

Result<int> RunGuarded(const PluginLimits& limits, const std::vector<std::string>& plugins,
                       const std::function<int()>& body) {
  void* const shared = ::mmap(nullptr, sizeof(GuardMemory), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const auto failed = [] { return SystemError("cannot start a process for a plug-in", errno, {}); };
  if (shared == MAP_FAILED) return failed();
  GuardMemory& memory = *new (shared) GuardMemory{};
  int end[2] = {-1, -1};  // has a writer as long as the child lives
  const pid_t child = ::pipe2(end, O_CLOEXEC) != 0 ? -1 : ::fork();
  if (child < 0) return failed();
  if (child == 0) {
#ifdef __linux__
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    guard_memory = &memory;
    guarded_plugins = &plugins;
    ::_exit(body());
  }
  ::close(end[1]);
  std::string limit;
  pollfd alive = {end[0], POLLIN, 0};
  while (::poll(&alive, 1, kPollMs) <= 0) {
    if (limit.empty()) limit = Exceeded(limits, memory, child);
    if (!limit.empty()) ::kill(child, SIGKILL);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  ::close(end[0]);
  size_t plugin = 0;
  const std::string calls = CallsUnderWay(memory, plugin);
  ::munmap(shared, sizeof(GuardMemory));
  if (WIFEXITED(status) && calls.empty()) return WEXITSTATUS(status);
  RemovePendingFiles();
  const std::string how =
      !limit.empty() ? "the plug-in was ended, as " + limit
      : WIFEXITED(status)
          ? fmt::format("the plug-in ended the process with status {}", WEXITSTATUS(status))
          : fmt::format("the plug-in was ended by signal {} ({})", WTERMSIG(status),
                        ::strsignal(WTERMSIG(status)));
  return Fail(ErrorCode::kDied, how + calls, {.path = plugins[plugin]},
              "correct the plug-in; with RINGSCOPE_PLUGIN_TIME=0 it has no guard, for a debugger");
}

PluginCall::PluginCall(std::string_view plugin, const char* function, const LogMoment* now) {
  CallSlot* const slot = OwnSlot();
  if (slot == nullptr) return;
  for (uint32_t i = 0; i < guarded_plugins->size(); ++i)
    if ((*guarded_plugins)[i] == plugin) slot->plugin = i;
  slot->function = function;
  slot->record = now == nullptr || !now->record ? 0 : *now->record + 1;
  slot->since_ns = NowNs();
}

PluginCall::~PluginCall() {
  if (CallSlot* const slot = OwnSlot()) slot->since_ns = 0;
}

void NotePluginWork(std::string_view work) {
  CallSlot* const slot = OwnSlot();
  if (slot == nullptr) return;
  slot->work[work.copy(slot->work.data(), slot->work.size() - 1)] = '\0';
}

}  // namespace ringscope
