#ifndef RINGSCOPE_COMMANDS_THREADS_SIDE_THREADS_H_
#define RINGSCOPE_COMMANDS_THREADS_SIDE_THREADS_H_

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>

#include "commands/shell/context.h"
#include "core/compare/diff_section.h"

namespace ringscope {

/// A thread for each side of a comparison, in which it replays its sections. Where the system
/// starts no thread for a side, the caller's does its work.
class SideThreads : public SideRunner {
 public:
  /// @param work called in the thread of its side
  explicit SideThreads(SideWork work);
  /// What was put and not begun is not replayed.
  ~SideThreads() override;

  void Put(DiffSection& section) override;
  void Wait() override;

 private:
  struct Worker {
    std::condition_variable put;
    std::queue<DiffSection*> queue;
    size_t done = 0;  // sections that were replayed, of all
    std::thread thread;
  };

  void Run(Side side);

  const SideWork work_;
  std::mutex mutex_;
  std::condition_variable done_;
  Both<Worker> workers_;
  size_t waited_ = 0;  // sections that were waited for
  bool is_over_ = false;
};

/// Threads for both sides, where the context allows more than one; else an empty function.
std::function<std::unique_ptr<SideRunner>(SideWork)> ThreadsOfSides(const Context& context);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_THREADS_SIDE_THREADS_H_
