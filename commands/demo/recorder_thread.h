#ifndef RINGSCOPE_COMMANDS_DEMO_RECORDER_THREAD_H_
#define RINGSCOPE_COMMANDS_DEMO_RECORDER_THREAD_H_

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "commands/record/event_loop.h"
#include "commands/record/log_queue.h"
#include "commands/record/recorder.h"

namespace ringscope::demo {

/// A recorder at work, in a thread of its own, that writes a log file.
class RecorderThread {
 public:
  static Result<std::unique_ptr<RecorderThread>> Start(record::RecorderOptions options,
                                                       record::LogFilesOptions files);
  ~RecorderThread() { static_cast<void>(Stop()); }
  RecorderThread(const RecorderThread&) = delete;
  RecorderThread& operator=(const RecorderThread&) = delete;

  /// Ends the recording and its file. Then the counts are final.
  Status Stop();
  const record::RecordCounts& counts() const { return recorder_->counts(); }
  /// After Stop: the recorder's warnings.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  RecorderThread() = default;
  void Run();

  std::unique_ptr<record::EventLoop> loop_;
  std::unique_ptr<record::LogQueue> log_;
  std::unique_ptr<record::Recorder> recorder_;
  std::vector<std::string> warnings_;  // of the thread
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace ringscope::demo

#endif  // RINGSCOPE_COMMANDS_DEMO_RECORDER_THREAD_H_
