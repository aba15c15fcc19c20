#include "commands/sweep_workers.h"

#include <algorithm>

namespace ringscope {
namespace {

constexpr size_t kMaxQueued = 8;

}  // namespace

SweepWorkers::SweepWorkers(const std::vector<SweepLane*>& lanes, size_t threads) {
  threads = std::clamp<size_t>(threads, 1, std::max<size_t>(lanes.size(), 1));
  for (size_t i = 0; i < threads; ++i) workers_.push_back(std::make_unique<Worker>());
  for (size_t i = 0; i < lanes.size(); ++i) workers_[i % threads]->lanes.push_back(lanes[i]);
  for (const auto& worker : workers_)
    worker->thread = std::thread([&worker = *worker] { worker.Run(); });
}

SweepWorkers::~SweepWorkers() { Finish(); }

void SweepWorkers::Worker::Run() {
  while (true) {
    std::shared_ptr<const SweepBatch> batch;
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return !queue.empty(); });
      batch = std::move(queue.front());
      queue.pop();
    }
    changed.notify_one();
    if (batch == nullptr) return;
    for (SweepLane* lane : lanes) lane->Apply(*batch);
  }
}

void SweepWorkers::Put(std::shared_ptr<const SweepBatch> batch) {
  for (const auto& worker : workers_) {
    {
      std::unique_lock lock(worker->mutex);
      worker->changed.wait(lock, [&] { return worker->queue.size() < kMaxQueued; });
      worker->queue.push(batch);
    }
    worker->changed.notify_one();
  }
}

void SweepWorkers::Finish() {
  if (workers_.empty()) return;
  Put(nullptr);
  for (const auto& worker : workers_) worker->thread.join();
  workers_.clear();
}

}  // namespace ringscope
