#ifndef RINGSCOPE_FORMATS_LOG_FRAME_DECOMPRESSOR_H_
#define RINGSCOPE_FORMATS_LOG_FRAME_DECOMPRESSOR_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/wire.h"

namespace ringscope {

/// Memory that a data frame is decompressed into.
struct FrameContent {
  std::unique_ptr<uint8_t[]> bytes;
  size_t capacity = 0;
};

/// Decompresses the data frames of an input, if asked to several at a time in threads of its own.
/// What a frame gives does not depend on that: a frame that was begun ahead is found again by its
/// place, and one that was begun in vain changes nothing.
///
/// Memory of the frames ahead: at most kAheadBytes, compressed and decompressed.
class FrameDecompressor {
 public:
  static constexpr size_t kAheadBytes = size_t{6} << 20;

  FrameDecompressor();
  ~FrameDecompressor();
  FrameDecompressor(const FrameDecompressor&) = delete;
  FrameDecompressor& operator=(const FrameDecompressor&) = delete;

  /// Starts the threads, once. Without them there are no frames ahead.
  void Start(unsigned threads);
  /// How many more frames can be begun now, if they are small; 0 without threads.
  size_t Room() const;
  /// Begins a frame that will probably be asked for: after all that were begun before.
  /// @param offset of the frame in the input; @param frame is copied
  /// @return false: it is too large for now
  bool Begin(uint64_t offset, Bytes frame, size_t content_size);

  /// @return the content, valid until the next call; or nullopt with the reason in `problem`
  std::optional<Bytes> Run(uint64_t offset, Bytes frame, size_t content_size, std::string* problem);
  /// Exchanges the memory of what Run returned last, which then stays valid.
  void Swap(FrameContent& content) { std::swap(content_, content); }

 private:
  class Context;
  struct Job {
    uint64_t offset = 0;
    std::vector<uint8_t> frame;
    size_t content_size = 0;
    FrameContent content;
    std::optional<std::string> problem;
    bool done = false;
    size_t bytes() const { return frame.size() + content_size; }
  };

  void Work(Context& context);
  /// Takes out the job for that frame, done; those before it are dropped.
  /// @return nullptr: it was not begun
  std::unique_ptr<Job> Take(uint64_t offset, size_t frame_size);

  const std::unique_ptr<Context> own_;  // the caller's
  FrameContent content_;
  size_t ahead_bytes_ = 0;  // of jobs_; the caller's
  std::vector<std::unique_ptr<Job>> spare_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Job>> jobs_;  // in order; the first `begun_` are being worked on
  size_t begun_ = 0;
  bool stop_ = false;
  std::vector<std::unique_ptr<Context>> contexts_;  // one for each thread
  std::vector<std::thread> threads_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_LOG_FRAME_DECOMPRESSOR_H_
