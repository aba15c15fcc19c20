#ifndef RINGSCOPE_COMMANDS_RECORD_LOG_FILES_H_
#define RINGSCOPE_COMMANDS_RECORD_LOG_FILES_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/log/live_state.h"
#include "core/log/op.h"
#include "core/log/verdict.h"
#include "formats/io/growing_file.h"
#include "formats/log/commit_log_writer.h"

namespace ringscope {

struct LogFilesOptions {
  std::string path;
  int level = kDefaultLevel;         // zstd's
  std::optional<uint64_t> max_size;  // bytes after which the next part begins
  std::optional<uint64_t> keep;      // bytes of all parts; the oldest are removed. Needs max_size
  bool replace = false;              // an older recording of that name, with its parts
  LogHeader header;                  // with a uuid; the parts are numbered here
};

/// A recording's file, or files: each has a header with the same uuid and the next part number, so
/// that the parts, one after the other, are one log. Each further part begins with the records that
/// repeat the state that the parts before it lead to, so that it can be read without them. The file
/// that is written is locked.
class LogFiles : private ByteSink {
 public:
  /// kUsage: there is a recording of that name, and it is not to be replaced.
  static Result<std::unique_ptr<LogFiles>> Create(LogFilesOptions options);

  /// Called when the disk is full, again and again until it returns false: whether to try to write
  /// once more. Without it a full disk is an error like any other.
  void SetOnFullDisk(std::function<bool(const Error&)> on_full) { on_full_ = std::move(on_full); }

  Status Append(const Op& op);
  /// Makes what was appended safe from the end of this process.
  Status Flush() { return writer_->Flush(); }
  /// Ends the last file with its index.
  /// @param ending of the last record, if there is to be one
  Status Close(std::optional<RecordingEnding> ending = {}, std::optional<uint64_t> time_ns = {});

  /// What the last record would be if the recording ended now.
  RecordingEnded Ended(RecordingEnding ending) const;

  uint64_t bytes_written() const { return bytes_before_ + writer_->bytes_written(); }
  /// Written so far, those that were removed included.
  uint32_t parts() const { return part_ + 1; }
  /// The oldest that is still there.
  uint32_t first_part() const { return first_part_; }

 private:
  explicit LogFiles(LogFilesOptions options) : options_(std::move(options)) {}
  using ByteSink::Write;
  Status Write(Bytes bytes) override;
  Status OpenPart(GrowingFile::Existing existing);
  /// Ends this part, removes those that are not kept, and begins the next one.
  Status BeginNextPart();

  const LogFilesOptions options_;
  std::function<bool(const Error&)> on_full_;
  uint32_t part_ = 0;
  uint32_t first_part_ = 0;
  std::deque<std::pair<std::string, uint64_t>> done_;  // paths and bytes of the earlier parts kept
  std::unique_ptr<GrowingFile> file_;
  std::unique_ptr<CommitLogWriter> writer_;
  uint64_t bytes_before_ = 0;  // in the parts before
  LiveState state_;
  std::optional<uint64_t> last_time_ns_;  // of the last record
  VerdictBuilder verdicts_;
};

/// Of a log that is recorded on this machine, now.
LogHeader LiveHeader();
/// 32 random hexadecimal digits.
std::string RandomUuid();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_LOG_FILES_H_
