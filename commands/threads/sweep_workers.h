#ifndef RINGSCOPE_COMMANDS_THREADS_SWEEP_WORKERS_H_
#define RINGSCOPE_COMMANDS_THREADS_SWEEP_WORKERS_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

#include "commands/shell/context.h"
#include "core/sweep/sweep_input.h"

namespace ringscope {

/// Threads that take the replays of a sweep through batches: each has some of the replays, and
/// takes one after the other through a batch, so that the batch stays in its cache. Where the
/// system starts fewer threads than wanted, there are fewer; without any, the caller's does the
/// work.
class SweepWorkers : public ReplayRunner {
 public:
  /// @param replays not owned
  /// @param threads wanted; at most one for each replay is used
  SweepWorkers(const std::vector<SweepReplay*>& replays, size_t threads);
  ~SweepWorkers() override;

  /// Waits while the slowest worker has many batches to do.
  void Put(std::shared_ptr<const SweepBatch> batch) override;
  void Finish(const std::function<void(SweepReplay&)>& last) override;

 private:
  struct Worker {
    std::vector<SweepReplay*> replays;
    std::mutex mutex;
    std::condition_variable changed;
    std::queue<std::shared_ptr<const SweepBatch>> queue;  // nullptr: the end
    std::function<void(SweepReplay&)> last;               // of each replay, at the end
    std::thread thread;

    void Run();
  };

  void PutToAll(const std::shared_ptr<const SweepBatch>& batch);

  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<SweepReplay*> own_replays_;  // that no worker has
};

/// Workers on as many threads as the context allows; without a limit, on all cores.
std::function<std::unique_ptr<ReplayRunner>(const std::vector<SweepReplay*>&)> SweepThreads(
    const Context& context);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_THREADS_SWEEP_WORKERS_H_
