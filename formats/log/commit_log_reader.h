#ifndef RINGSCOPE_FORMATS_LOG_COMMIT_LOG_READER_H_
#define RINGSCOPE_FORMATS_LOG_COMMIT_LOG_READER_H_

#include "formats/io/log_source.h"
#include "formats/io/made_ahead.h"
#include "formats/log/zstd_frames.h"

namespace ringscope {

/// Reads and decompresses frames in a thread of its own if the input is a file that is not small.
/// Memory: kAheadBytes besides the largest frame.
class FramesAhead {
 public:
  static constexpr size_t kAheadBytes = size_t{8} << 20;

  /// @param keep_whole data frames keep their compressed bytes; else their `whole` is empty
  FramesAhead(std::unique_ptr<ZstdFrameReader> reader, bool keep_whole);

  /// Does what ZstdFrameReader::Next does. An error, like the end, stays.
  Result<std::optional<FrameOrBad>> Next();
  const ByteSource& source() const { return reader_->source(); }
  /// Bytes of the input before the frame that follows the one returned last.
  uint64_t position() const { return ahead_ ? position_ : reader_->position(); }

 private:
  /// A frame with its memory, which frames after it use again.
  struct Frame {
    FrameContent content;
    std::vector<uint8_t> whole;
    Result<std::optional<FrameOrBad>> item = std::optional<FrameOrBad>();
    uint64_t position = 0;
  };
  using Ahead = MadeAhead<Frame>;

  Ahead::Made Read(Frame& into);

  const std::unique_ptr<ZstdFrameReader> reader_;  // the thread's; of its source what is constant
  const bool keep_whole_;
  uint64_t position_ = 0;
  std::optional<Ahead> ahead_;  // the last member: its thread uses all others
};

/// Sees what a reader meets besides the records that it returns.
class CommitLogObserver {
 public:
  virtual ~CommitLogObserver() = default;
  /// A frame, before its records are read; skippable ones are start, index, seek table, or another
  /// tool's.
  virtual void OnFrame(const ZstdFrame& frame) = 0;
  /// A record, before it is returned, or nullptr for one of an unknown kind, which is skipped.
  virtual void OnRecord(const Op* /*op*/, Bytes /*encoded*/) {}
};

/// Reads a `.tblog`, or several in a row; commits point into the decompressed frame. Damage is
/// noted, and costs the frame that has it. @param observer must outlive the reader; may be null
std::unique_ptr<LogSource> MakeCommitLogReader(std::unique_ptr<ByteSource> source,
                                               CommitLogObserver* observer = nullptr);

namespace commit_log {

/// Returns true if an input that begins like this is a commit log, perhaps damaged or cut off.
bool LooksLikeCommitLog(Bytes start);

/// Returns true for a data frame whose first record is numbered, and for intact own skippable
/// frames.
bool IsOwnFrame(const ZstdFrame& frame);

}  // namespace commit_log

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_LOG_COMMIT_LOG_READER_H_
