#ifndef RINGSCOPE_FORMATS_LOG_COMMIT_LOG_READER_H_
#define RINGSCOPE_FORMATS_LOG_COMMIT_LOG_READER_H_

#include <memory>

#include "formats/io/log_source.h"
#include "formats/log/zstd_frames.h"

namespace ringscope {

/// Sees what a reader meets besides the records that it returns.
class CommitLogObserver {
 public:
  virtual ~CommitLogObserver() = default;
  /// A data frame, before its records are read.
  virtual void OnDataFrame(const ZstdFrame& frame) = 0;
  /// A skippable frame: start, index, seek table, or another tool's.
  virtual void OnSkippableFrame(const ZstdFrame& frame) = 0;
  /// A record, before it is returned, or nullptr for one of an unknown kind, which is skipped.
  virtual void OnRecord(const Op* op, Bytes encoded) = 0;
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
