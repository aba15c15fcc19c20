#include "commands/demo/recorder_thread.h"

#include <utility>

namespace ringscope::demo {

Result<std::unique_ptr<RecorderThread>> RecorderThread::Start(record::RecorderOptions options,
                                                              record::LogFilesOptions files) {
  std::unique_ptr<RecorderThread> recording(new RecorderThread());
  RS_ASSIGN_OR_RETURN(recording->loop_, record::EventLoop::Create());
  RS_ASSIGN_OR_RETURN(record::RecorderListeners listeners,
                      record::RecorderListeners::Open(options));
  RS_ASSIGN_OR_RETURN(auto log_files, record::LogFiles::Create(std::move(files)));
  RS_ASSIGN_OR_RETURN(recording->log_, record::LogQueue::Create(std::move(log_files), {}));
  RS_ASSIGN_OR_RETURN(
      recording->recorder_,
      record::Recorder::Create(*recording->loop_, std::move(options), std::move(listeners),
                               *recording->log_,
                               [self = recording.get()](const record::Warning& warning) {
                                 self->warnings_.push_back(warning.text);
                               }));
  recording->thread_ = std::thread([self = recording.get()] { self->Run(); });
  return recording;
}

void RecorderThread::Run() {
  loop_->RunUntil([this] { return stop_.load(); });
  recorder_->Stop();
  loop_->RunUntil([this] { return recorder_->stopped(); });
}

Status RecorderThread::Stop() {
  if (!thread_.joinable()) return {};
  stop_ = true;
  loop_->Wake();
  thread_.join();
  return log_->Close(RecordingEnding::kDuration);
}

}  // namespace ringscope::demo
