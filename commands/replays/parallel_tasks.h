#ifndef RINGSCOPE_COMMANDS_REPLAYS_PARALLEL_TASKS_H_
#define RINGSCOPE_COMMANDS_REPLAYS_PARALLEL_TASKS_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "commands/shell/context.h"
#include "core/sweep/sweep.h"

namespace ringscope {

/// Runs tasks on the caller's thread and on others, which wait between runs. Where the system
/// starts fewer threads than wanted, there are fewer.
class ParallelTasks {
 public:
  explicit ParallelTasks(size_t threads);
  ~ParallelTasks();
  ParallelTasks(const ParallelTasks&) = delete;
  ParallelTasks& operator=(const ParallelTasks&) = delete;

  /// Calls task(0) .. task(count - 1), and returns after the last one has ended.
  void Run(size_t count, const std::function<void(size_t)>& task);

 private:
  void Work();
  /// Runs tasks until none is left to begin.
  void TakeTasks(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable begun_, ended_;
  const std::function<void(size_t)>* task_ = nullptr;
  size_t next_ = 0;   // task to begin
  size_t count_ = 0;  // of the run
  size_t done_ = 0;
  bool stops_ = false;
  std::vector<std::thread> threads_;
};

/// Runs tasks on as many threads as the context allows; without a limit, on all cores.
TaskRunner TasksOnCores(const Context& context);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAYS_PARALLEL_TASKS_H_
