#ifndef RINGSCOPE_FORMATS_LOG_COMMIT_LOG_WRITER_H_
#define RINGSCOPE_FORMATS_LOG_COMMIT_LOG_WRITER_H_

#include <cstdint>
#include <memory>

#include "core/log/op.h"
#include "formats/io/output_file.h"

namespace ringscope {

/// zstd's level for logs: level 3 saves 1 to 4 %, and takes 1.6 times as long.
inline constexpr int kDefaultLevel = 1;

struct CommitLogWriterOptions {
  int level = kDefaultLevel;         // zstd's
  size_t frame_bytes = 1024 * 1024;  // raw bytes after which a data frame is closed
  /// Compress several frames at a time; 0: the caller's. The file is the same, but a frame and its
  /// errors may show some frames later; Flush waits.
  unsigned threads = 0;
};

/// Returns the number of processors, at most 4; 0 if there is one.
unsigned CompressionThreads();

inline constexpr OutputKind kLogOutput = {"a log"};

/// Writes a `.tblog`. Close adds index and seek table; what is written before is readable without.
class CommitLogWriter {
 public:
  virtual ~CommitLogWriter() = default;
  /// The sink must outlive the writer.
  static Result<std::unique_ptr<CommitLogWriter>> Create(ByteSink& sink,
                                                         CommitLogWriterOptions options = {});
  /// Appends a record. The first must be a LogHeader. Splits a commit that is larger than a frame.
  virtual Status Append(const Op& op) = 0;
  /// Closes the open frame, so that everything appended so far is safe in the sink.
  virtual Status Flush() = 0;
  virtual Status Close() = 0;
  virtual uint64_t records() const = 0;
  virtual uint64_t bytes_written() const = 0;
};

/// The header that an import of operations gives to a log whose text has none.
LogHeader ImportHeader();
/// Returns true if a text of the log can leave this header out: an import makes it again.
bool IsImportHeader(const LogHeader& header);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_LOG_COMMIT_LOG_WRITER_H_
