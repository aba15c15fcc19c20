#ifndef RINGSCOPE_FORMATS_LOG_LOG_INDEX_H_
#define RINGSCOPE_FORMATS_LOG_LOG_INDEX_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "formats/io/byte_stream.h"
#include "formats/log/commit_log_index.h"
#include "formats/log/index_directory.h"

namespace ringscope {

/// The index of a log of one file that was closed, from the file's end alone. Of a long log only
/// those parts are read that are asked for: its directory, and 43 KB for each 1,024 data frames.
///
/// Errors of the source are passed on; what turns out to be damaged later is kCorrupt.
class LogIndex {
 public:
  /// @param source that can be read at any place, and outlives the index
  /// @return nullopt: there is no index here that can be trusted
  static Result<std::optional<LogIndex>> Open(ByteSource& source);

  uint64_t frames() const { return frames_; }
  /// Bytes of the records, decompressed.
  uint64_t content_size() const { return content_size_; }
  Result<std::vector<SessionSummary>> Sessions();

  /// A data frame's entry, and where the frame begins in the file.
  struct Frame {
    commit_log::IndexEntry entry;
    uint64_t offset = 0;
  };
  /// @param number below frames()
  Result<Frame> At(uint64_t number);

  /// What is looked for in a frame. It is asked of many frames' sum first: it must be true of that
  /// if it is true of one of them.
  using Predicate = std::function<bool(const commit_log::IndexEntry&)>;
  /// The first of the frames from `first` on for which it is true; frames(): none.
  Result<uint64_t> FindFirst(uint64_t first, const Predicate& is_wanted);
  /// The last of the frames before `end` for which it is true; nullopt: none.
  Result<std::optional<uint64_t>> FindLast(uint64_t end, const Predicate& is_wanted);

 private:
  LogIndex(ByteSource& source, commit_log::IndexDirectory directory, uint64_t message_offset,
           std::string message);

  /// A part of the Index message, if its hash is right.
  Result<std::string> ReadPart(uint64_t offset, uint64_t size, uint64_t hash);
  /// Loads a block's frames.
  Status Load(size_t block);

  ByteSource* source_;
  commit_log::IndexDirectory directory_;
  uint64_t message_offset_;  // in the file
  std::string message_;      // all of it, if it has no directory of its own
  uint64_t frames_ = 0;
  uint64_t content_size_ = 0;

  static constexpr size_t kNone = SIZE_MAX;
  size_t loaded_ = kNone;     // the block that was loaded last
  std::vector<Frame> block_;  // its frames
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_LOG_LOG_INDEX_H_
