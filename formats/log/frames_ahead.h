#ifndef RINGSCOPE_FORMATS_LOG_FRAMES_AHEAD_H_
#define RINGSCOPE_FORMATS_LOG_FRAMES_AHEAD_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <variant>
#include <vector>

#include "formats/log/zstd_frames.h"

namespace ringscope {

/// The frames of a ZstdFrameReader, read and decompressed in a thread of its own while those before
/// are being used: of files, that is. Of other inputs, where a read may never end, and of small
/// files each is read when it is asked for.
///
/// Memory: as long as frames of kAheadBytes or more wait or are in use, no further one is begun. So
/// that is what it takes besides the largest frame; and large frames come one at a time.
class FramesAhead {
 public:
  using Item = std::variant<ZstdFrame, BadRange>;

  static constexpr size_t kAheadBytes = size_t{8} << 20;

  /// @param reader whose Next was not called yet
  /// @param keep_whole whether data frames keep their compressed bytes; else `whole` is empty
  FramesAhead(std::unique_ptr<ZstdFrameReader> reader, bool keep_whole);
  ~FramesAhead();
  FramesAhead(const FramesAhead&) = delete;
  FramesAhead& operator=(const FramesAhead&) = delete;

  /// As ZstdFrameReader::Next. An error, like the end, stays.
  Result<std::optional<Item>> Next();
  const ByteSource& source() const { return reader_->source(); }
  /// Bytes of the input before the frame that follows the one returned last.
  uint64_t position() const;

 private:
  /// A frame with its memory, which frames after it use again.
  struct Slot {
    FrameContent content;
    std::vector<uint8_t> whole;
    Result<std::optional<Item>> item = std::optional<Item>();
    uint64_t position = 0;
    size_t bytes = 0;  // of content and whole
    bool last = false;
  };

  void Start();
  void Run();
  void Read(Slot& slot);

  const std::unique_ptr<ZstdFrameReader> reader_;  // the thread's; of its source what is constant
  const bool keep_whole_;
  std::unique_ptr<Slot> current_;  // what Next returned last

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Slot>> ready_;
  std::vector<std::unique_ptr<Slot>> spare_;
  size_t held_bytes_ = 0;  // of current_ and ready_
  bool stop_ = false;

  std::thread thread_;  // the last member: it uses all others
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_LOG_FRAMES_AHEAD_H_
