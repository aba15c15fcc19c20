#ifndef RINGSCOPE_COMMANDS_TESTING_FILE_RECORDING_H_
#define RINGSCOPE_COMMANDS_TESTING_FILE_RECORDING_H_

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "commands/record/log_queue.h"
#include "commands/testing/ipc_peer.h"
#include "commands/testing/recorder_run.h"

namespace ringscope::testing {

/// A recorder at work whose log is a file, as a user's is. The file is removed at the end.
class FileRecording {
 public:
  explicit FileRecording(const RecorderOptions& options, int level = kDefaultLevel)
      : path_(std::filesystem::temp_directory_path() /
              (UniqueSocketName("recording").substr(1) + ".tblog")),
        log_(OpenLog(path_, level)),
        recorder_(options, *log_) {}
  ~FileRecording() { std::filesystem::remove(path_); }

  /// Ends it as a user would, the log included. @return what the log had to drop
  LogQueue::State Finish() {
    recorder_.Stop();
    static_cast<void>(log_->Close(RecordingEnding::kSignal));
    return log_->state();
  }
  /// How often the log is marked as not exact. After Finish.
  uint64_t marks() const {
    uint64_t marks = 0;
    for (const RecordingVerdict& verdict : log_->files().Ended(RecordingEnding::kSignal).verdicts)
      marks += verdict.times;
    return marks;
  }

 private:
  static std::unique_ptr<LogQueue> OpenLog(const std::string& path, int level) {
    auto files = LogFiles::Create({.path = path, .level = level, .header = LiveHeader()});
    return LogQueue::Create(*std::move(files), {}).value();
  }

  const std::string path_;
  const std::unique_ptr<LogQueue> log_;
  RecorderRun recorder_;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_FILE_RECORDING_H_
