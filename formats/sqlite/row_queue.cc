#include "formats/sqlite/row_queue.h"

#include <system_error>
#include <utility>

namespace ringscope {
namespace {

constexpr size_t kMaxBatches = 8;

}  // namespace

RowQueue::RowQueue(Write write) : write_(std::move(write)) {
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error&) {
    // The system has no more threads: Put writes.
  }
}

RowQueue::~RowQueue() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void RowQueue::Put(std::unique_ptr<RowBatch> batch) {
  if (!thread_.joinable()) return write_(*batch);
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return batches_.size() < kMaxBatches; });
    batches_.push(std::move(batch));
  }
  changed_.notify_all();
}

void RowQueue::Finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return batches_.empty() && !busy_; });
}

void RowQueue::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stops_ || !batches_.empty(); });
    if (batches_.empty()) return;
    const std::unique_ptr<RowBatch> batch = std::move(batches_.front());
    batches_.pop();
    busy_ = true;
    lock.unlock();
    changed_.notify_all();
    write_(*batch);
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace ringscope
