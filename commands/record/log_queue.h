#ifndef RINGSCOPE_COMMANDS_RECORD_LOG_QUEUE_H_
#define RINGSCOPE_COMMANDS_RECORD_LOG_QUEUE_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/log/live_state.h"
#include "core/log/op.h"
#include "core/log/payload_mask.h"
#include "core/log/verdict.h"
#include "formats/io/output_file.h"
#include "formats/log/commit_log_writer.h"

namespace ringscope {

struct LogFilesOptions {
  std::string path;
  int level = kDefaultLevel;         // zstd's
  std::optional<uint64_t> max_size;  // bytes after which the next part begins
  std::optional<uint64_t> keep;      // bytes of all parts; the oldest are removed. Needs max_size
  bool replace = false;              // an older recording of that name, with its parts
  bool without_payload = false;      // payloads are masked
  LogHeader header;                  // with a uuid; the parts are numbered here
};

/// A recording's file, or files: each has a header with the same uuid and the next part number, so
/// that the parts are one log together. Each further part begins with the records of what is still
/// true of those before, so that it can be read without them. The file that is written is locked.
class LogFiles : private ByteSink {
 public:
  /// kUsage: there is a recording of that name, and it is not to be replaced.
  static Result<std::unique_ptr<LogFiles>> Create(LogFilesOptions options);

  /// Calls `on_full` when the disk is full, again and again until it returns false: then writing is
  /// not tried once more. Without it a full disk is an error like any other.
  void SetOnFullDisk(std::function<bool(const Error&)> on_full) { on_full_ = std::move(on_full); }
  /// Calls `pause` after each 64 KiB that are compressed or written.
  void SetPause(std::function<void()> pause) { pause_ = std::move(pause); }

  Status Append(const Op& record);
  Status Flush() { return writer_->Flush(); }
  /// Ends the last file with its index.
  /// @param ending of the last record, if there is to be one
  Status Close(std::optional<RecordingEnding> ending = {}, std::optional<uint64_t> time_ns = {});

  /// Returns the last record of a recording that would end now.
  RecordingEnded Ended(RecordingEnding ending) const;

  uint64_t bytes_written() const { return bytes_before_ + writer_->bytes_written(); }
  uint32_t parts() const { return part_ + 1; }         // written so far, removed ones included
  uint32_t first_part() const { return first_part_; }  // that is still there

 private:
  explicit LogFiles(LogFilesOptions options) : options_(std::move(options)) {}
  using ByteSink::Write;
  Status Write(Bytes bytes) override;
  Status OpenPart(GrowingFile::Existing existing);
  /// Ends this part, removes those that are not kept, and begins the next one.
  Status BeginNextPart();

  const LogFilesOptions options_;
  std::function<bool(const Error&)> on_full_;
  std::function<void()> pause_ = [] {};
  uint32_t part_ = 0;
  uint32_t first_part_ = 0;
  std::deque<std::pair<std::string, uint64_t>> done_;  // paths and bytes of the earlier parts kept
  std::unique_ptr<GrowingFile> file_;
  std::unique_ptr<CommitLogWriter> writer_;
  uint64_t bytes_before_ = 0;  // in the parts before
  PayloadMask mask_;
  LiveState state_;
  std::optional<uint64_t> last_time_ns_;  // of the last record
  VerdictBuilder verdicts_;
};

/// Returns the header of a log that is recorded on this machine, now.
LogHeader LiveHeader();
/// Returns 32 random hexadecimal digits.
std::string RandomUuid();

/// Room for the requests of commits: in huge pages where it is large enough and the system has
/// them. A client must not wait while memory is mapped page by page.
class RequestRoom {
 public:
  static constexpr size_t kHugePage = size_t{2} << 20;

  /// Returns true if so many bytes more fit.
  bool Fits(size_t bytes) const { return size_ + bytes <= capacity_; }
  /// Makes it empty, with room for at least so many bytes.
  void Clear(size_t capacity);
  /// Copies a request that fits. @return the copy
  Bytes Append(Bytes request);
  /// Has all of it mapped, which takes time.
  void Touch() { std::fill_n(memory_.get(), capacity_, uint8_t{0}); }

 private:
  static constexpr size_t kPage = 4096;
  OwnedBytes memory_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

/// Records on their way to the disk: appended at once, written by a thread of its own. The queue is
/// bounded. When it is full, commits are dropped until half of it is free, and the log has a
/// recorder gap for what was dropped; the small records that identify producers and writers have a
/// reserve of their own. A full disk is waited for, as a slow one is.
class LogQueue : public RecordSink {
 public:
  struct Options {
    size_t capacity = size_t{128} << 20;  // bytes
    std::chrono::milliseconds flush_interval{200};
    std::chrono::milliseconds retry_interval{1000};  // while the disk is full
  };
  struct State {
    uint64_t queued = 0;  // bytes
    uint64_t gaps = 0;
    uint64_t dropped_records = 0;
    uint64_t dropped_bytes = 0;
    /// The reason if nothing is written at present, though it is tried again and again: the disk is
    /// full.
    std::optional<Error> waiting;
    /// Why writing has stopped, if it has. What is appended then is dropped.
    std::optional<Error> failure;
  };

  static Result<std::unique_ptr<LogQueue>> Create(std::unique_ptr<LogFiles> files, Options options);
  ~LogQueue() override { static_cast<void>(Close()); }

  /// Adds the time of now. From one thread.
  void Append(OpBody body) override;
  State state() const;
  /// Writes all that is queued and closes the files.
  /// @param ending of the last record, if there is to be one
  Status Close(std::optional<RecordingEnding> ending = {});
  const LogFiles& files() const { return *files_; }  // after Close

 private:
  using Clock = std::chrono::steady_clock;
  /// Records that are written, and made safe, together: a frame of the log. Blocks are used again:
  /// a client must not wait for the system to map memory.
  struct Block {
    std::vector<Op> records;
    RequestRoom requests;  // of the commits among them
    size_t cost = 0;       // what they count for in the queue
  };

  LogQueue(std::unique_ptr<LogFiles> files, Options options);
  void AppendLocked(Op record, size_t cost);
  /// The open block is to be written, and another one is opened.
  void CloseBlock();
  void Drop(const Op& op, size_t size);
  void Run();
  Status Write(const Block& block);
  /// Leaves the processor to those that wait for it, unless much waits to be written.
  void Pause() const;
  bool WaitForDisk(const Error& error);  // a moment; returns whether to try again
  /// Waits for something to write. @return nullopt if the queue is closed and empty
  std::optional<Block> TakeBlock(std::unique_lock<std::mutex>& lock);

  std::unique_ptr<LogFiles> files_;  // the thread's until Close
  const Options options_;
  const size_t block_cost_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Block> blocks_;  // to be written
  Block open_;                // being filled
  std::vector<Block> spare_;  // empty
  Clock::time_point open_until_;
  std::atomic<size_t> queued_ = 0;  // written with the mutex
  bool closing_ = false;
  bool dropping_ = false;
  std::optional<RecordingEnding> ending_;
  std::optional<RecorderGap> gap_;  // what was dropped and is not in the log yet
  State totals_;
  Status result_;  // of the writing thread

  std::thread thread_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_LOG_QUEUE_H_
