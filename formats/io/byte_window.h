#ifndef RINGSCOPE_FORMATS_IO_BYTE_WINDOW_H_
#define RINGSCOPE_FORMATS_IO_BYTE_WINDOW_H_

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "formats/io/byte_stream.h"

namespace ringscope {

/// A view of a source's next bytes that grows on demand and moves forward.
class ByteWindow {
 public:
  explicit ByteWindow(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)), read_bytes_(ReadBytesFor(*source_)) {}

  /// Reads until the window has `size` bytes. The source's first error stays.
  /// @return false if the source ends before
  Result<bool> Fill(size_t size);
  /// Drops bytes from the window's front, at most size().
  void Drop(size_t count) {
    begin_ += count;
    offset_ += count;
  }

  Bytes bytes() const { return {buffer_.get() + begin_, end_ - begin_}; }
  size_t size() const { return end_ - begin_; }
  /// Returns the window's offset in the source.
  uint64_t offset() const { return offset_; }
  const ByteSource& source() const { return *source_; }

 private:
  std::unique_ptr<ByteSource> source_;
  size_t read_bytes_;
  void GrowFor(size_t size);

  struct Free {
    void operator()(uint8_t* bytes) const { std::free(bytes); }
  };
  std::unique_ptr<uint8_t[], Free> buffer_;
  size_t capacity_ = 0;
  size_t begin_ = 0;
  size_t end_ = 0;
  uint64_t offset_ = 0;
  bool at_end_ = false;
  std::optional<Error> failure_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_IO_BYTE_WINDOW_H_
