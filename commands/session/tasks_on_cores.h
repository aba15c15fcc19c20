#ifndef RINGSCOPE_COMMANDS_SESSION_TASKS_ON_CORES_H_
#define RINGSCOPE_COMMANDS_SESSION_TASKS_ON_CORES_H_

#include <algorithm>
#include <atomic>
#include <functional>
#include <system_error>
#include <thread>
#include <vector>

#include "commands/shell/command.h"
#include "core/sweep/sweep.h"

namespace ringscope {

/// Runs tasks on the caller's thread and on others: as many as the context allows; without a limit,
/// on all cores. Where the system starts fewer threads than wanted, there are fewer.
inline TaskRunner TasksOnCores(const Context& context) {
  const size_t most = context.threads != 0 ? context.threads : std::thread::hardware_concurrency();
  return [most](size_t count, const std::function<void(size_t)>& task) {
    std::atomic<size_t> next = 0;
    const auto run = [&] {
      for (size_t i = next++; i < count; i = next++) task(i);
    };
    std::vector<std::jthread> others;
    try {
      while (others.size() + 1 < std::min(most, count)) others.emplace_back(run);
    } catch (const std::system_error&) {
      // Fewer threads do the rest.
    }
    run();
  };
}

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SESSION_TASKS_ON_CORES_H_
