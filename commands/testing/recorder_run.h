#ifndef RINGSCOPE_COMMANDS_TESTING_RECORDER_RUN_H_
#define RINGSCOPE_COMMANDS_TESTING_RECORDER_RUN_H_

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "commands/record/event_loop.h"
#include "commands/record/recorder.h"
#include "commands/testing/loop_wake.h"

namespace ringscope::testing {

/// A log in memory.
class MemoryLog : public RecordSink {
 public:
  void Append(OpBody body) override;
  /// Waits until so many records of a kind are there. @return false: they do not arrive
  template <typename Kind>
  bool WaitFor(size_t count = 1) {
    return WaitUntil([&] { return CountLocked<Kind>() >= count; });
  }
  /// The records so far, without times: no test depends on these. Valid as long as the log.
  std::vector<Op> ops() const;
  /// The same with the times of CLOCK_BOOTTIME, as a recording has them.
  std::vector<Op> TimedOps() const;
  template <typename Kind>
  std::vector<Kind> All() const {
    std::vector<Kind> all;
    for (const Op& op : ops())
      if (const auto* body = std::get_if<Kind>(&op.body)) all.push_back(*body);
    return all;
  }

 private:
  template <typename Kind>
  size_t CountLocked() const {
    size_t count = 0;
    for (const Op& op : ops_) count += std::holds_alternative<Kind>(op.body) ? 1 : 0;
    return count;
  }
  bool WaitUntil(const std::function<bool()>& condition);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Op> ops_;
  std::vector<uint64_t> times_ns_;
  std::deque<std::string> requests_;  // that the commits point into
};

/// A recorder at work in a thread of its own.
class RecorderRun {
 public:
  /// @param log must live longer
  RecorderRun(const RecorderOptions& options, RecordSink& log);
  ~RecorderRun() { Stop(); }

  /// Ends it as a user would, and waits for it.
  void Stop();
  /// Its messages to the user.
  std::vector<std::string> warnings() const;
  /// After Stop.
  const RecordCounts& counts() const { return recorder_->counts(); }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> warnings_;
  std::unique_ptr<EventLoop> loop_;
  LoopWake wake_;
  std::unique_ptr<Recorder> recorder_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_RECORDER_RUN_H_
