#ifndef RINGSCOPE_COMMANDS_RECORD_LOG_FILES_H_
#define RINGSCOPE_COMMANDS_RECORD_LOG_FILES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/log/op.h"
#include "formats/io/growing_file.h"
#include "formats/log/commit_log_writer.h"

namespace ringscope::record {

struct LogFilesOptions {
  std::string path;
  int level = kDefaultLevel;         // zstd's
  std::optional<uint64_t> max_size;  // bytes after which the next part begins
  LogHeader header;                  // with a uuid; the parts are numbered here
};

/// A recording's file, or files: each has a header with the same uuid and the next part number, so
/// that the parts, one after the other, are one log.
class LogFiles {
 public:
  static Result<std::unique_ptr<LogFiles>> Create(LogFilesOptions options);

  /// Both make what is appended safe from the end of this process.
  Status Append(const Op& op);
  Status AppendFrame(PreparedFrame& frame);
  /// Ends the last file with its index.
  Status Close();

  uint64_t bytes_written() const { return bytes_before_ + writer_->bytes_written(); }
  uint32_t parts() const { return part_ + 1; }

 private:
  explicit LogFiles(LogFilesOptions options) : options_(std::move(options)) {}
  /// Begins the next part if this one has its size.
  Status MakeRoom();
  Status OpenPart();
  Status ClosePart();

  const LogFilesOptions options_;
  uint32_t part_ = 0;
  std::unique_ptr<GrowingFile> file_;
  std::unique_ptr<CommitLogWriter> writer_;
  uint64_t bytes_before_ = 0;  // in the parts before
};

/// "cap.tblog", "cap.1.tblog", "cap.2.tblog"
std::string PartPath(const std::string& path, uint32_t part);
/// 32 random hexadecimal digits.
std::string RandomUuid();

}  // namespace ringscope::record

#endif  // RINGSCOPE_COMMANDS_RECORD_LOG_FILES_H_
