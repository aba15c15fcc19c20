#include "commands/replays/parallel_tasks.h"

#include <memory>
#include <system_error>

namespace ringscope {

ParallelTasks::ParallelTasks(size_t threads) {
  while (threads_.size() + 1 < threads) {
    try {
      threads_.emplace_back([this] { Work(); });
    } catch (const std::system_error&) {
      break;
    }
  }
}

ParallelTasks::~ParallelTasks() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  begun_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ParallelTasks::TakeTasks(std::unique_lock<std::mutex>& lock) {
  while (next_ < count_) {
    const size_t index = next_++;
    lock.unlock();
    (*task_)(index);
    lock.lock();
    if (++done_ == count_) ended_.notify_all();
  }
}

void ParallelTasks::Work() {
  std::unique_lock lock(mutex_);
  while (!stops_) {
    TakeTasks(lock);
    begun_.wait(lock, [&] { return stops_ || next_ < count_; });
  }
}

void ParallelTasks::Run(size_t count, const std::function<void(size_t)>& task) {
  std::unique_lock lock(mutex_);
  task_ = &task;
  next_ = done_ = 0;
  count_ = count;
  begun_.notify_all();
  TakeTasks(lock);
  ended_.wait(lock, [&] { return done_ == count_; });
}

TaskRunner TasksOnCores(const Context& context) {
  const size_t threads =
      context.threads != 0 ? context.threads : std::thread::hardware_concurrency();
  if (threads < 2) return RunInTurn;
  return [tasks = std::make_shared<ParallelTasks>(threads)](
             size_t count, const std::function<void(size_t)>& task) { tasks->Run(count, task); };
}

}  // namespace ringscope
