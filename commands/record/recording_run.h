#ifndef RINGSCOPE_COMMANDS_RECORD_RECORDING_RUN_H_
#define RINGSCOPE_COMMANDS_RECORD_RECORDING_RUN_H_

#include <memory>
#include <optional>
#include <string>

#include "commands/record/log_queue.h"
#include "commands/record/record.h"
#include "commands/record/recorder.h"
#include "commands/record/status_line.h"
#include "commands/system/child_process.h"
#include "commands/system/signal_watch.h"

namespace ringscope::record {

/// One run of `ringscope record`: sets everything up, waits for the end, reports.
class RecordingRun {
 public:
  RecordingRun(const RecordArgs& args, Context& context) : args_(args), context_(context) {}

  Result<ExitCode> Run();

 private:
  Result<RecorderOptions> MakeOptions() const;
  Result<std::unique_ptr<LogQueue>> OpenLog();
  Status StartCommand(const RecorderOptions& options);
  void SayWhatIsRecorded(const RecorderOptions& options);
  void Warn(const std::string& text);
  void OnTick();
  void EndCommand();
  void ReportFailure();
  ExitCode Finish();
  double Seconds() const;

  const RecordArgs& args_;
  Context& context_;
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<LogQueue> log_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<ChildProcess> command_;
  std::optional<std::string> command_ending_;  // once it has ended; empty: well
  bool stop_ = false;
  bool failure_reported_ = false;
  uint64_t gaps_reported_ = 0;
  uint64_t warnings_ = 0;
  EventLoop::Timer tick_;
  RateMeter rate_;
  EventLoop::Clock::time_point start_;
};

}  // namespace ringscope::record

#endif  // RINGSCOPE_COMMANDS_RECORD_RECORDING_RUN_H_
