#ifndef RINGSCOPE_FORMATS_IO_LINE_READER_H_
#define RINGSCOPE_FORMATS_IO_LINE_READER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "core/base/result.h"
#include "formats/io/byte_stream.h"

namespace ringscope {

/// Pulls lines out of a source of bytes. Memory: one line.
class LineReader {
 public:
  /// @param max_line bytes of the longest line that is accepted
  LineReader(std::unique_ptr<ByteSource> source, size_t max_line)
      : window_(std::move(source)), max_line_(max_line) {}

  /// Returns the next line without its break, valid until the next call, or nullopt at the end.
  /// After the error that a line is too long (kLimit) continues with the line after it.
  Result<std::optional<std::string_view>> Next();

  /// Of the line returned last, or of the one that was too long.
  Where Here() const { return Where{window_.source().path(), {}, number_}; }
  const ByteSource& source() const { return window_.source(); }
  /// Returns the offset of that line in the source.
  uint64_t start() const { return start_; }
  /// Bytes of the source up to the end of that line.
  uint64_t position() const { return window_.offset() + returned_; }

 private:
  Status SkipLine();

  ByteWindow window_;
  const size_t max_line_;
  size_t returned_ = 0;  // bytes at the window's front that the last call returned
  uint64_t number_ = 0;
  uint64_t start_ = 0;
  bool in_long_line_ = false;
};

/// Returns true for a blank line or a comment, which a # starts.
bool IsBlankOrComment(std::string_view line);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_IO_LINE_READER_H_
