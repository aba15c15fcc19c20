#include "formats/log/frame_compressor.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/base/wire.h"

namespace ringscope {

void FrameCompressor::FreeContext::operator()(ZSTD_CCtx_s* context) const {
  ZSTD_freeCCtx(context);
}

Status FrameCompressor::Compress(ZSTD_CCtx_s& context, FrameJob& job) const {
  const int level = std::clamp(level_, ZSTD_minCLevel(), ZSTD_maxCLevel());
  ZSTD_CCtx_setParameter(&context, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(&context, ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_setParameter(&context, ZSTD_c_contentSizeFlag, 1);
  // The string keeps its length, so that only what it grows by is cleared.
  const size_t bound = ZSTD_compressBound(job.content.size());
  if (job.compressed.size() < bound) job.compressed.resize(bound);
  const size_t size = ZSTD_compress2(&context, job.compressed.data(), job.compressed.size(),
                                     job.content.data(), job.content.size());
  if (ZSTD_isError(size))
    return Fail(ErrorCode::kLimit,
                fmt::format("zstd cannot compress a frame: {}", ZSTD_getErrorName(size)));
  job.entry.compressed_size = size;
  job.entry.content_size = job.content.size();
  job.entry.frame_hash = commit_log::Hash(wire::AsBytes(job.compressed).first(size));
  return {};
}

FrameCompressor::FrameCompressor(int level, unsigned threads) : level_(level) {
  for (unsigned i = 0; i <= threads; ++i) contexts_.emplace_back(ZSTD_createCCtx());
  try {
    for (unsigned i = 1; i <= threads; ++i)
      threads_.emplace_back([this, &context = *contexts_[i]] { Run(context); });
  } catch (const std::system_error&) {
    // The system has no more threads: those that were started do the work.
  }
}

FrameCompressor::~FrameCompressor() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

std::unique_ptr<FrameJob> FrameCompressor::NewJob() {
  if (spare_.empty()) return std::make_unique<FrameJob>();
  std::unique_ptr<FrameJob> job = std::move(spare_.back());
  spare_.pop_back();
  return job;
}

void FrameCompressor::Add(std::unique_ptr<FrameJob> job) {
  auto pending = std::make_unique<Pending>();
  pending->job = std::move(job);
  if (threads_.empty()) {
    pending->status = Compress(*contexts_.front(), *pending->job);
    pending->done = true;
  }
  {
    const std::lock_guard lock(mutex_);
    pending_.push_back(std::move(pending));
    if (threads_.empty()) ++begun_;
  }
  changed_.notify_all();
}

Result<std::unique_ptr<FrameJob>> FrameCompressor::Take(bool all) {
  std::unique_lock lock(mutex_);
  if (pending_.empty()) return nullptr;
  const bool wait = all || pending_.size() > 2 * threads_.size();
  if (!wait && !pending_.front()->done) return nullptr;
  changed_.wait(lock, [this] { return pending_.front()->done; });
  const std::unique_ptr<Pending> first = std::move(pending_.front());
  pending_.pop_front();
  --begun_;
  RS_RETURN_IF_ERROR(first->status);
  return std::move(first->job);
}

void FrameCompressor::Run(ZSTD_CCtx_s& context) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || begun_ < pending_.size(); });
    if (stop_) return;
    Pending& pending = *pending_[begun_++];  // stays where it is until it is done
    lock.unlock();
    Status status = Compress(context, *pending.job);
    lock.lock();
    pending.status = std::move(status);
    pending.done = true;
    changed_.notify_all();
  }
}

}  // namespace ringscope
