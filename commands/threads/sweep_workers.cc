#include "commands/threads/sweep_workers.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace ringscope {
namespace {

constexpr size_t kMaxQueued = 8;

}  // namespace

SweepWorkers::SweepWorkers(const std::vector<SweepReplay*>& replays, size_t threads) {
  threads = std::clamp<size_t>(threads, 1, std::max<size_t>(replays.size(), 1));
  // A worker reads its replays first when it gets a batch: they are dealt out once all have
  // started.
  while (workers_.size() < threads) {
    auto worker = std::make_unique<Worker>();
    try {
      worker->thread = std::thread([&worker = *worker] { worker.Run(); });
    } catch (const std::system_error&) {
      break;
    }
    workers_.push_back(std::move(worker));
  }
  for (size_t i = 0; i < replays.size(); ++i)
    (workers_.empty() ? own_replays_ : workers_[i % workers_.size()]->replays)
        .push_back(replays[i]);
}

SweepWorkers::~SweepWorkers() {
  Finish([](SweepReplay&) {});
}

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
    for (SweepReplay* replay : replays) batch == nullptr ? last(*replay) : replay->Apply(*batch);
    if (batch == nullptr) return;
  }
}

void SweepWorkers::PutToAll(const std::shared_ptr<const SweepBatch>& batch) {
  for (const auto& worker : workers_) {
    {
      std::unique_lock lock(worker->mutex);
      worker->changed.wait(lock, [&] { return worker->queue.size() < kMaxQueued; });
      worker->queue.push(batch);
    }
    worker->changed.notify_one();
  }
}

void SweepWorkers::Put(std::shared_ptr<const SweepBatch> batch) {
  PutToAll(batch);
  for (SweepReplay* replay : own_replays_) replay->Apply(*batch);
}

void SweepWorkers::Finish(const std::function<void(SweepReplay&)>& last) {
  for (const auto& worker : workers_) {
    const std::lock_guard lock(worker->mutex);
    worker->last = last;
  }
  PutToAll(nullptr);
  for (SweepReplay* replay : own_replays_) last(*replay);
  for (const auto& worker : workers_) worker->thread.join();
  workers_.clear();
}

std::function<std::unique_ptr<ReplayRunner>(const std::vector<SweepReplay*>&)> SweepThreads(
    const Context& context) {
  const size_t threads =
      context.threads != 0 ? context.threads : std::thread::hardware_concurrency();
  return [threads](const std::vector<SweepReplay*>& replays) {
    return std::make_unique<SweepWorkers>(replays, threads);
  };
}

}  // namespace ringscope
