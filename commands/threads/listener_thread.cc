#include "commands/threads/listener_thread.h"

#include <system_error>
#include <utility>

namespace ringscope {
namespace {

/// Sections that wait for the listeners at most.
constexpr size_t kMaxWaiting = 2;

}  // namespace

ListenerThread::ListenerThread(TapePlayer& player) : player_(player) {
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error&) {
    // Put plays.
  }
}

ListenerThread::~ListenerThread() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  put_.notify_one();
  if (thread_.joinable()) thread_.join();
}

std::unique_ptr<TapeSection> ListenerThread::Take() {
  const std::lock_guard lock(mutex_);
  if (empty_.empty()) return std::make_unique<TapeSection>();
  std::unique_ptr<TapeSection> section = std::move(empty_.back());
  empty_.pop_back();
  return section;
}

Status ListenerThread::Put(std::unique_ptr<TapeSection> section) {
  if (!thread_.joinable()) {
    if (status_) status_ = player_.Play(*section);
    section->Clear();
    empty_.push_back(std::move(section));
    return status_;
  }
  std::unique_lock lock(mutex_);
  played_.wait(lock, [&] { return queue_.size() < kMaxWaiting; });
  queue_.push(std::move(section));
  put_.notify_one();
  return status_;
}

Status ListenerThread::Wait() {
  std::unique_lock lock(mutex_);
  played_.wait(lock, [&] { return queue_.empty() && !is_playing_; });
  return status_;
}

void ListenerThread::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    put_.wait(lock, [&] { return !queue_.empty() || is_over_; });
    if (is_over_) return;  // nobody waits for the rest
    std::unique_ptr<TapeSection> section = std::move(queue_.front());
    queue_.pop();
    const bool plays = status_.has_value();
    is_playing_ = true;
    lock.unlock();
    Status status = plays ? player_.Play(*section) : Status{};
    section->Clear();
    lock.lock();
    is_playing_ = false;
    if (plays) status_ = std::move(status);
    empty_.push_back(std::move(section));
    played_.notify_one();
  }
}

std::function<std::unique_ptr<TapeRunner>(TapePlayer&)> ListenerThreads(const Context& context) {
  const unsigned threads =
      context.threads != 0 ? context.threads : std::thread::hardware_concurrency();
  if (threads < 2) return {};
  return [](TapePlayer& player) { return std::make_unique<ListenerThread>(player); };
}

}  // namespace ringscope
