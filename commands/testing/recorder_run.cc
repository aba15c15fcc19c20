#include "commands/testing/recorder_run.h"

#include "commands/record/event_loop.h"

namespace ringscope::testing {

void MemoryLog::Append(OpBody body) {
  const std::lock_guard lock(mutex_);
  if (auto* const commit = std::get_if<Commit>(&body)) {
    requests_.emplace_back(wire::AsText(commit->request));
    commit->request = wire::AsBytes(requests_.back());
  }
  ops_.push_back({.time_ns = {}, .body = std::move(body)});
  times_ns_.push_back(BootTimeNs());
  changed_.notify_all();
}

std::vector<Op> MemoryLog::ops() const {
  const std::lock_guard lock(mutex_);
  return ops_;
}

std::vector<Op> MemoryLog::TimedOps() const {
  const std::lock_guard lock(mutex_);
  std::vector<Op> ops = ops_;
  for (size_t i = 0; i < ops.size(); ++i) ops[i].time_ns = times_ns_[i];
  return ops;
}

bool MemoryLog::WaitUntil(const std::function<bool()>& condition) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(30), condition);
}

RecorderRun::RecorderRun(const RecorderOptions& options, RecordSink& log)
    : loop_(EventLoop::Create().value()),
      wake_(*loop_),
      recorder_(Recorder::Create(*loop_, options, Recorder::Listen(options).value(), log,
                                 [this](const std::string& text, int32_t) {
                                   const std::lock_guard lock(mutex_);
                                   warnings_.push_back(text);
                                 })
                    .value()),
      thread_([this] {
        loop_->RunUntil([this] { return stop_.load(); });
        recorder_->Stop();
        loop_->RunUntil([this] { return recorder_->stopped(); });
      }) {}

void RecorderRun::Stop() {
  if (!thread_.joinable()) return;
  stop_ = true;
  wake_();
  thread_.join();
}

std::vector<std::string> RecorderRun::warnings() const {
  const std::lock_guard lock(mutex_);
  return warnings_;
}

}  // namespace ringscope::testing
