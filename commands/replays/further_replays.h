#ifndef RINGSCOPE_COMMANDS_REPLAYS_FURTHER_REPLAYS_H_
#define RINGSCOPE_COMMANDS_REPLAYS_FURTHER_REPLAYS_H_

#include <algorithm>
#include <atomic>
#include <functional>
#include <system_error>
#include <thread>
#include <vector>

#include "commands/shell/command.h"
#include "commands/shell/console.h"
#include "core/sweep/sweep.h"

namespace ringscope {

/// A context like another one, but silent on standard error: for a further replay of a log whose
/// warnings were printed already.
class MutedContext {
 public:
  enum class Progress { kHidden, kShown };

  /// @param progress kShown: that of what is done in it, on the thread of `context`
  explicit MutedContext(Context& context, Progress progress = Progress::kHidden)
      : streams_{context.console.streams().out, muted_, context.console.streams().open_input, true,
                 context.console.streams().input_again},
        console_(streams_),
        context_{console_, context.threads, context.files} {
    if (progress == Progress::kShown) console_.ShowProgressOn(context.console);
  }

  Context& context() { return context_; }

 private:
  struct Muted : OutputStream {
    Status Write(Bytes) override { return {}; }
  };
  Muted muted_;
  Streams streams_;
  Console console_;
  Context context_;
};

/// Runs tasks on the caller's thread and on others: as many as the context allows; without a limit,
/// on all cores. Where the system starts fewer threads than wanted, there are fewer.
inline TaskRunner TasksOnCores(const Context& context) {
  const size_t most = context.threads != 0 ? context.threads : std::thread::hardware_concurrency();
  return [most](size_t count, const std::function<void(size_t)>& task) {
    std::atomic<size_t> next = 0;
    const auto run = [&] {
      for (size_t i = next++; i < count; i = next++) task(i);
    };
    std::vector<std::jthread> others;
    try {
      while (others.size() + 1 < std::min(most, count)) others.emplace_back(run);
    } catch (const std::system_error&) {
      // Fewer threads do the rest.
    }
    run();
  };
}

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAYS_FURTHER_REPLAYS_H_
