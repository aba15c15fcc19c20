#ifndef RINGSCOPE_FORMATS_LOG_FRAMES_AHEAD_H_
#define RINGSCOPE_FORMATS_LOG_FRAMES_AHEAD_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "formats/io/made_ahead.h"
#include "formats/log/zstd_frames.h"

namespace ringscope {

/// Reads and decompresses frames in a thread of its own if the input is a file that is not small.
/// Memory: kAheadBytes besides the largest frame.
class FramesAhead {
 public:
  using Item = std::variant<ZstdFrame, BadRange>;

  static constexpr size_t kAheadBytes = size_t{8} << 20;

  /// @param keep_whole data frames keep their compressed bytes; else their `whole` is empty
  FramesAhead(std::unique_ptr<ZstdFrameReader> reader, bool keep_whole);

  /// Does what ZstdFrameReader::Next does. An error, like the end, stays.
  Result<std::optional<Item>> Next();
  const ByteSource& source() const { return reader_->source(); }
  /// Bytes of the input before the frame that follows the one returned last.
  uint64_t position() const { return ahead_ ? position_ : reader_->position(); }

 private:
  /// A frame with its memory, which frames after it use again.
  struct Frame {
    FrameContent content;
    std::vector<uint8_t> whole;
    Result<std::optional<Item>> item = std::optional<Item>();
    uint64_t position = 0;
  };
  using Ahead = MadeAhead<Frame>;

  Ahead::Made Read(Frame& into);

  const std::unique_ptr<ZstdFrameReader> reader_;  // the thread's; of its source what is constant
  const bool keep_whole_;
  uint64_t position_ = 0;
  std::optional<Ahead> ahead_;  // the last member: its thread uses all others
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_LOG_FRAMES_AHEAD_H_
