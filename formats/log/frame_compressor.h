#ifndef RINGSCOPE_FORMATS_LOG_FRAME_COMPRESSOR_H_
#define RINGSCOPE_FORMATS_LOG_FRAME_COMPRESSOR_H_

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/base/result.h"
#include "formats/log/commit_log_index.h"

struct ZSTD_CCtx_s;

namespace ringscope {

/// A data frame of a commit log, before it is compressed and after.
struct FrameJob {
  std::string content;
  commit_log::IndexEntry entry;  // without the compressed frame's size and hash, which come with it
  std::string compressed;
};

/// Compresses data frames, several at a time if it has threads, with the same result.
class FrameCompressor {
 public:
  /// @param level zstd's; @param threads 0: Add compresses
  FrameCompressor(int level, unsigned threads);
  ~FrameCompressor();
  FrameCompressor(const FrameCompressor&) = delete;
  FrameCompressor& operator=(const FrameCompressor&) = delete;

  /// A job with memory that was used before, to be filled and added.
  std::unique_ptr<FrameJob> NewJob();
  void Add(std::unique_ptr<FrameJob> job);
  /// Returns the frame that was added first, once it is compressed; nullptr if there is none.
  /// @param all true to wait for it even if few frames follow
  Result<std::unique_ptr<FrameJob>> Take(bool all);
  /// Gives a job's memory back.
  void Recycle(std::unique_ptr<FrameJob> job) { spare_.push_back(std::move(job)); }

 private:
  struct FreeContext {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  struct Pending {
    std::unique_ptr<FrameJob> job;
    Status status;
    bool done = false;
  };

  /// Compresses a job's content and completes its entry.
  Status Compress(ZSTD_CCtx_s& context, FrameJob& job) const;
  void Run(ZSTD_CCtx_s& context);

  const int level_;
  // The caller's memory of zstd, then one for each thread.
  std::vector<std::unique_ptr<ZSTD_CCtx_s, FreeContext>> contexts_;
  std::vector<std::unique_ptr<FrameJob>> spare_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Pending>>
      pending_;  // in order; the first `begun_` are being worked on
  size_t begun_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_LOG_FRAME_COMPRESSOR_H_
