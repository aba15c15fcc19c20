#ifndef RINGSCOPE_COMMANDS_SWEEP_WORKERS_H_
#define RINGSCOPE_COMMANDS_SWEEP_WORKERS_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

#include "core/sweep_lane.h"

namespace ringscope {

/// Threads that take the lanes of a sweep through batches: each has some of the lanes, and takes
/// one after the other through a batch, so that the batch stays in its cache.
class SweepWorkers {
 public:
  /// @param lanes not owned
  SweepWorkers(const std::vector<SweepLane*>& lanes, size_t threads);
  /// Waits for all that was put in.
  ~SweepWorkers();

  /// Waits while the slowest worker is far behind.
  void Put(std::shared_ptr<const SweepBatch> batch);
  /// Waits for all that was put in.
  void Finish();

 private:
  struct Worker {
    std::vector<SweepLane*> lanes;
    std::mutex mutex;
    std::condition_variable changed;
    std::queue<std::shared_ptr<const SweepBatch>> queue;  // nullptr: the end
    std::thread thread;

    void Run();
  };

  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SWEEP_WORKERS_H_
