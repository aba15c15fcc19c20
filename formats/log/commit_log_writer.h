#ifndef RINGSCOPE_FORMATS_LOG_COMMIT_LOG_WRITER_H_
#define RINGSCOPE_FORMATS_LOG_COMMIT_LOG_WRITER_H_

#include <deque>
#include <future>

#include "core/base/result.h"
#include "core/log/op.h"
#include "formats/io/output_file.h"
#include "formats/log/commit_log_index.h"

struct ZSTD_CCtx_s;

namespace ringscope {

/// A data frame of a commit log, before it is compressed and after.
struct FrameJob {
  std::string content;
  commit_log::IndexEntry entry;  // without the compressed frame's size and hash, which come with it
  std::string compressed;
  std::shared_ptr<ZSTD_CCtx_s> context;  // memory of zstd
};

/// Compresses data frames, several at a time if it has threads, with the same result.
class FrameCompressor {
 public:
  /// @param level zstd's; @param threads 0: Take compresses
  /// @param pause of CommitLogWriterOptions
  FrameCompressor(int level, unsigned threads, std::function<void()> pause = {})
      : level_(level), threads_(threads), pause_(std::move(pause)) {}

  /// A job with memory that was used before, to be filled and added.
  std::unique_ptr<FrameJob> NewJob();
  void Add(std::unique_ptr<FrameJob> job);
  /// Returns the frame that was added first, once it is compressed; nullptr if there is none.
  /// @param all true to wait for it even if few frames follow
  Result<std::unique_ptr<FrameJob>> Take(bool all);
  /// Gives a job's memory back.
  void Recycle(std::unique_ptr<FrameJob> job) { spare_.push_back(std::move(job)); }

 private:
  struct Pending {
    std::unique_ptr<FrameJob> job;
    std::future<Status> done;  // the last member: its thread uses the job
  };

  /// Compresses a job's content and completes its entry.
  Status Compress(FrameJob& job) const;

  const int level_;
  const unsigned threads_;
  const std::function<void()> pause_;
  std::vector<std::unique_ptr<FrameJob>> spare_;
  std::deque<Pending> pending_;  // in order
};

/// zstd's level for logs: level 3 saves 1 to 4 %, and takes 1.6 times as long.
inline constexpr int kDefaultLevel = 1;

struct CommitLogWriterOptions {
  int level = kDefaultLevel;         // zstd's
  size_t frame_bytes = 1024 * 1024;  // raw bytes after which a data frame is closed
  /// Compress several frames at a time; 0: the caller's. The file is the same, but a frame and its
  /// errors may show some frames later; Flush waits.
  unsigned threads = 0;
  /// Called after each 64 KiB of a frame that are compressed, so that a thread can leave its
  /// processor to others. Empty: a frame is compressed at once, which saves up to 0.7 %.
  std::function<void()> pause = {};
  /// Create has the memory of the first frames mapped: for each page of it a thread is in the
  /// system, where it cannot pause.
  bool map_memory = false;
};

/// Returns the number of processors, at most 4; 0 if there is one.
unsigned CompressionThreads();

inline constexpr OutputKind kLogOutput = {"a log"};

/// Writes a `.tblog`. Close adds index and seek table; what is written before is readable without.
class CommitLogWriter {
 public:
  virtual ~CommitLogWriter() = default;
  /// The sink must outlive the writer.
  static Result<std::unique_ptr<CommitLogWriter>> Create(ByteSink& sink,
                                                         CommitLogWriterOptions options = {});
  /// Appends a record. The first must be a LogHeader. Splits a commit that is larger than a frame.
  virtual Status Append(const Op& op) = 0;
  /// Closes the open frame, so that everything appended so far is safe in the sink.
  virtual Status Flush() = 0;
  virtual Status Close() = 0;
  virtual uint64_t records() const = 0;
  virtual uint64_t bytes_written() const = 0;
};

/// The header that an import of operations gives to a log whose text has none.
LogHeader ImportHeader();
/// Returns true if a text of the log can leave this header out: an import makes it again.
bool IsImportHeader(const LogHeader& header);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_LOG_COMMIT_LOG_WRITER_H_
