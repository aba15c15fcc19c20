#include "formats/log/frame_decompressor.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace ringscope {

/// zstd's memory for decompressing one frame after the other.
class FrameDecompressor::Context {
 public:
  /// @return what is wrong with the frame
  std::optional<std::string> Run(Bytes frame, size_t content_size, FrameContent& content) {
    if (content.capacity < content_size) {
      content.capacity = std::max(content_size, 2 * content.capacity);
      content.bytes = std::make_unique_for_overwrite<uint8_t[]>(content.capacity);
    }
    const size_t got = ZSTD_decompressDCtx(context_.get(), content.bytes.get(), content_size,
                                           frame.data(), frame.size());
    if (ZSTD_isError(got))
      return fmt::format("the frame does not decompress: {}", ZSTD_getErrorName(got));
    if (got != content_size)
      return fmt::format("the frame holds {} bytes, its header states {}", got, content_size);
    return std::nullopt;
  }

 private:
  struct FreeDCtx {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, FreeDCtx> context_{ZSTD_createDCtx()};
};

FrameDecompressor::FrameDecompressor() : own_(std::make_unique<Context>()) {}

FrameDecompressor::~FrameDecompressor() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void FrameDecompressor::Start(unsigned threads) {
  for (unsigned i = 0; i < threads; ++i) contexts_.push_back(std::make_unique<Context>());
  try {
    for (const auto& context : contexts_)
      threads_.emplace_back([this, &context = *context] { Work(context); });
  } catch (const std::system_error&) {
    // The system has no more threads: those that were started do the work.
  }
}

size_t FrameDecompressor::Room() const {
  if (threads_.empty() || ahead_bytes_ >= kAheadBytes) return 0;
  // One that each thread works on, and one that it finds next.
  const size_t most = 2 * threads_.size();
  const std::lock_guard lock(mutex_);
  return most - std::min(most, jobs_.size());
}

bool FrameDecompressor::Begin(uint64_t offset, Bytes frame, size_t content_size) {
  if (ahead_bytes_ + frame.size() + content_size > kAheadBytes) return false;
  std::unique_ptr<Job> job;
  if (!spare_.empty()) {
    job = std::move(spare_.back());
    spare_.pop_back();
  } else {
    job = std::make_unique<Job>();
  }
  job->offset = offset;
  job->frame.assign(frame.begin(), frame.end());
  job->content_size = content_size;
  job->problem.reset();
  job->done = false;
  ahead_bytes_ += job->bytes();
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_all();
  return true;
}

std::unique_ptr<FrameDecompressor::Job> FrameDecompressor::Take(uint64_t offset,
                                                                size_t frame_size) {
  std::unique_lock lock(mutex_);
  while (!jobs_.empty() && jobs_.front()->offset <= offset) {
    changed_.wait(lock, [this] { return begun_ == 0 || jobs_.front()->done; });
    std::unique_ptr<Job> job = std::move(jobs_.front());
    jobs_.pop_front();
    if (job->done) --begun_;
    ahead_bytes_ -= job->bytes();
    // One that no thread has come to is left to the caller, who would only wait for it.
    if (job->done && job->offset == offset && job->frame.size() == frame_size) return job;
    spare_.push_back(std::move(job));
  }
  return nullptr;
}

std::optional<Bytes> FrameDecompressor::Run(uint64_t offset, Bytes frame, size_t content_size,
                                            std::string* problem) {
  std::optional<std::string> wrong;
  if (std::unique_ptr<Job> job = Take(offset, frame.size())) {
    std::swap(content_, job->content);
    wrong = std::move(job->problem);
    spare_.push_back(std::move(job));
  } else {
    wrong = own_->Run(frame, content_size, content_);
  }
  if (wrong) {
    *problem = *std::move(wrong);
    return std::nullopt;
  }
  return Bytes(content_.bytes.get(), content_size);
}

void FrameDecompressor::Work(Context& context) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || begun_ < jobs_.size(); });
    if (stop_) return;
    Job& job = *jobs_[begun_++];  // stays where it is until it is done
    lock.unlock();
    std::optional<std::string> problem = context.Run(job.frame, job.content_size, job.content);
    lock.lock();
    job.problem = std::move(problem);
    job.done = true;
    changed_.notify_all();
  }
}

}  // namespace ringscope
