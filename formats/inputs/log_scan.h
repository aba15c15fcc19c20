#ifndef RINGSCOPE_FORMATS_INPUTS_LOG_SCAN_H_
#define RINGSCOPE_FORMATS_INPUTS_LOG_SCAN_H_

#include <cstdint>
#include <functional>

#include "formats/inputs/log_check.h"
#include "formats/log/commit_log_reader.h"

namespace ringscope {

/// Follows the structure of a commit log while it is read: what LogInfo has about frames.
class FrameCounter : public CommitLogObserver {
 public:
  void OnDataFrame(const ZstdFrame& frame) override;
  void OnSkippableFrame(const ZstdFrame& frame) override;
  void OnRecord(const Op* op, Bytes encoded) override;

  uint64_t unknown_records() const { return unknown_records_; }
  /// Puts what was counted into `info`.
  void Fill(LogInfo& info) const;

 private:
  enum class Stage { kRecords, kIndex, kClosed };

  uint64_t data_frames_ = 0;
  uint64_t raw_bytes_ = 0;
  uint64_t unknown_records_ = 0;
  uint64_t file_offset_ = 0;       // of the current one of several concatenated files
  Stage stage_ = Stage::kRecords;  // the part of that file that is being read
  bool others_closed_ = true;      // the files before it
};

/// Reads a log to its end, with a call for each record and progress now and then.
Status ScanLog(LogSource& log, const ProgressFn& progress,
               const std::function<Status(const Op&)>& each);

/// What is known of a log when it has been read to its end, besides the sessions.
LogInfo InfoOf(const LogSource& log, const FrameCounter& frames);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_INPUTS_LOG_SCAN_H_
