#include "commands/threads/side_threads.h"

#include <system_error>
#include <utility>

namespace ringscope {

SideThreads::SideThreads(SideWork work) : work_(std::move(work)) {
  try {
    for (const Side side : kSides) workers_[side].thread = std::thread([this, side] { Run(side); });
  } catch (const std::system_error&) {
    // Put does the work.
  }
}

SideThreads::~SideThreads() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  for (const Side side : kSides) {
    workers_[side].put.notify_one();
    if (workers_[side].thread.joinable()) workers_[side].thread.join();
  }
}

void SideThreads::Put(DiffSection& section) {
  for (const Side side : kSides) {
    Worker& worker = workers_[side];
    if (!worker.thread.joinable()) continue;
    {
      const std::lock_guard lock(mutex_);
      worker.queue.push(&section);
    }
    worker.put.notify_one();
  }
  for (const Side side : kSides) {
    if (workers_[side].thread.joinable()) continue;
    work_(side, section);
    const std::lock_guard lock(mutex_);
    ++workers_[side].done;
  }
}

void SideThreads::Wait() {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return workers_.a.done > waited_ && workers_.b.done > waited_; });
  ++waited_;
}

void SideThreads::Run(Side side) {
  Worker& worker = workers_[side];
  std::unique_lock lock(mutex_);
  while (true) {
    worker.put.wait(lock, [&] { return !worker.queue.empty() || is_over_; });
    if (is_over_) return;
    DiffSection* const section = worker.queue.front();
    worker.queue.pop();
    lock.unlock();
    work_(side, *section);
    lock.lock();
    ++worker.done;
    done_.notify_one();
  }
}

std::function<std::unique_ptr<SideRunner>(SideWork)> ThreadsOfSides(const Context& context) {
  const unsigned threads =
      context.threads != 0 ? context.threads : std::thread::hardware_concurrency();
  if (threads < 2) return {};
  return [](SideWork work) { return std::make_unique<SideThreads>(std::move(work)); };
}

}  // namespace ringscope
