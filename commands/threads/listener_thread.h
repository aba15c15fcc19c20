#ifndef RINGSCOPE_COMMANDS_THREADS_LISTENER_THREAD_H_
#define RINGSCOPE_COMMANDS_THREADS_LISTENER_THREAD_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

#include "commands/shell/context.h"
#include "core/tape/tape_player.h"
#include "core/tape/tape_recorder.h"

namespace ringscope {

/// A thread in which the listeners of a replay hear what it does, while it continues. Where the
/// system starts no thread, they hear it in the caller's.
class ListenerThread : public TapeRunner {
 public:
  /// @param player of the listeners; must outlive this
  explicit ListenerThread(TapePlayer& player);
  ~ListenerThread() override;

  std::unique_ptr<TapeSection> Take() override;
  /// Waits while the listeners have some sections to hear.
  Status Put(std::unique_ptr<TapeSection> section) override;
  Status Wait() override;

 private:
  void Run();

  TapePlayer& player_;
  std::mutex mutex_;
  std::condition_variable put_;
  std::condition_variable played_;
  std::queue<std::unique_ptr<TapeSection>> queue_;
  std::vector<std::unique_ptr<TapeSection>> empty_;
  bool is_playing_ = false;
  bool is_over_ = false;
  Status status_;  // of the listeners
  std::thread thread_;
};

/// A thread for the listeners, where the context allows more than one; else an empty function.
std::function<std::unique_ptr<TapeRunner>(TapePlayer&)> ListenerThreads(const Context& context);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_THREADS_LISTENER_THREAD_H_
