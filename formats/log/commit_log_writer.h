#ifndef RINGSCOPE_FORMATS_LOG_COMMIT_LOG_WRITER_H_
#define RINGSCOPE_FORMATS_LOG_COMMIT_LOG_WRITER_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "core/log/op.h"
#include "formats/io/output_file.h"
#include "formats/log/prepared_frame.h"

namespace ringscope {

/// zstd's level for logs: captured commits get 1 to 4 % smaller by level 3, which takes 1.6 times
/// as long.
inline constexpr int kDefaultLevel = 1;

struct CommitLogWriterOptions {
  int level = kDefaultLevel;         // zstd's
  size_t frame_bytes = 1024 * 1024;  // raw bytes after which a data frame is closed
  /// That compress, several frames at a time; 0: the caller's. The file is the same. With threads a
  /// frame is in the sink, and its errors show, some frames later; Flush waits for all of them.
  unsigned threads = 0;
};

/// Threads for a writer that is to be fast: as many as there are processors, up to 4; 0 if there is
/// one.
unsigned CompressionThreads();

inline constexpr OutputKind kLogOutput = {"a log"};

/// Writes a `.tblog`: see commit_log.md. Records go into frames; Close adds index, summary and
/// seek table. What is written before Close is readable without it.
class CommitLogWriter {
 public:
  virtual ~CommitLogWriter() = default;
  /// The sink must outlive the writer.
  static Result<std::unique_ptr<CommitLogWriter>> Create(ByteSink& sink,
                                                         CommitLogWriterOptions options = {});
  /// Appends a record. The first must be a LogHeader; each further LogHeader starts a frame. A
  /// commit larger than a frame is split over records at its fields' borders.
  virtual Status Append(const Op& op) = 0;
  /// Closes the open frame and appends a frame that was made ahead. A LogHeader must come before.
  /// @param level zstd's, for this frame; absent: the writer's
  virtual Status AppendFrame(PreparedFrame& frame, std::optional<int> level = {}) = 0;
  /// Closes the open frame, so that everything appended so far is safe in the sink.
  virtual Status Flush() = 0;
  virtual Status Close() = 0;
  virtual uint64_t records() const = 0;
  virtual uint64_t bytes_written() const = 0;
};

/// The header that an import of operations gives to a log whose text has none.
LogHeader ImportHeader();
/// Whether a text of the log can leave this header out, as an import would make it again.
bool IsImportHeader(const LogHeader& header);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_LOG_COMMIT_LOG_WRITER_H_
