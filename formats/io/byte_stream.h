#ifndef RINGSCOPE_FORMATS_IO_BYTE_STREAM_H_
#define RINGSCOPE_FORMATS_IO_BYTE_STREAM_H_

#include <fcntl.h>
#include <unistd.h>

#include <string_view>

#include "core/base/ids.h"
#include "core/base/result.h"

namespace ringscope {

// Files by their descriptor.

/// Owns a file descriptor.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  ~UniqueFd() { Reset(); }
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    if (this != &other) other.Reset();
    return *this;
  }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  void Reset() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  /// Returns it to a caller who closes it.
  int Release() { return std::exchange(fd_, -1); }
  /// Another descriptor of the same file; invalid if the system has none left.
  UniqueFd Duplicate() const { return UniqueFd(::fcntl(fd_, F_DUPFD_CLOEXEC, 0)); }

 private:
  int fd_ = -1;
};

struct WriteOutcome {
  size_t written = 0;  // bytes, also before a failure
  int error = 0;       // errno of the call that failed, or 0
};
/// Writes all bytes, in as many calls as that takes.
WriteOutcome WriteAll(int fd, Bytes bytes);
/// Reads at an offset until `into` is full or the file ends. @return nullopt and errno on failure
std::optional<size_t> ReadAllAt(int fd, uint64_t offset, std::span<uint8_t> into);
/// "cannot open: No such file or directory", at a path, for an errno.
tl::unexpected<Error> SystemError(const std::string& what, int error, const std::string& path,
                                  std::string hint = {});

/// Bytes in order: a file, standard input, a decompressed stream, a string.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Reads up to `into.size()` bytes. @return bytes read, 0 at the end
  Result<size_t> Read(std::span<uint8_t> into);
  /// Returns the next bytes, which Read then returns again: fewer than `size` only before the end
  /// or an error. Fails if there are none because of an error.
  Result<std::string> Peek(size_t size);
  /// Name for messages; "-" for standard input.
  virtual const std::string& path() const = 0;
  /// Bytes of the underlying file, if it has a size.
  virtual std::optional<uint64_t> size() const { return std::nullopt; }
  /// Reads at an offset without moving the stream; only if CanReadAt(). Short at the file's end.
  virtual Result<size_t> ReadAt(uint64_t offset, std::span<uint8_t> into);
  virtual bool CanReadAt() const { return false; }

 protected:
  /// Reads bytes that were not peeked at. @return as of Read
  virtual Result<size_t> ReadNext(std::span<uint8_t> into) = 0;

 private:
  std::string peeked_;  // and not read
};

/// Opens a file, or standard input for "-".
Result<std::unique_ptr<ByteSource>> OpenByteSource(const std::string& path);
/// Reads up to `into.size()` bytes. @return bytes read, 0 at the end
using ReadFn = std::function<Result<size_t>(std::span<uint8_t> into)>;
/// A source over what can be read once.
std::unique_ptr<ByteSource> MakeSource(ReadFn read, std::string path,
                                       std::optional<uint64_t> size = {});
/// Reads up to `into.size()` bytes at an offset; short only at the end.
using ReadAtFn = std::function<Result<size_t>(uint64_t offset, std::span<uint8_t> into)>;
/// A source over what can be read at any offset.
std::unique_ptr<ByteSource> MakeSourceAt(ReadAtFn read_at, uint64_t size, std::string path);
/// A source over bytes in memory.
std::unique_ptr<ByteSource> MakeMemorySource(std::string bytes, std::string path = "memory");
/// A source over bytes that must outlive it, or are part of `owner`.
std::unique_ptr<ByteSource> MakeViewSource(Bytes bytes, std::string path,
                                           std::shared_ptr<const std::string> owner = {});

/// Bytes that a reader asks a source for at once.
inline constexpr size_t kReadBytes = size_t{256} << 10;
/// Returns kReadBytes, or not much more than all that a small source has.
size_t ReadBytesFor(const ByteSource& source);
/// Bytes that a writer collects before it gives them to a sink.
inline constexpr size_t kWriteBytes = size_t{64} << 10;

/// Reads to the source's end; more than `max_bytes` are an error.
Result<std::string> ReadAll(ByteSource& source, size_t max_bytes);

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual Status Write(Bytes bytes) = 0;
  Status Write(std::string_view text);
};

/// Writes a source's bytes to a sink, up to its end or `most` of them.
Status CopyBytes(ByteSource& source, ByteSink& sink, uint64_t most = UINT64_MAX);
/// A source whose bytes are written to a sink, too, as they are read.
std::unique_ptr<ByteSource> MakeCopiedSource(std::unique_ptr<ByteSource> source, ByteSink& copy);

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

  OwnedBytes buffer_;
  size_t capacity_ = 0;
  size_t begin_ = 0;
  size_t end_ = 0;
  uint64_t offset_ = 0;
  bool at_end_ = false;
  std::optional<Error> failure_;
};

/// Pulls lines out of a source of bytes. Memory: one line.
class LineReader {
 public:
  /// @param max_line bytes of the longest line that is accepted
  LineReader(std::unique_ptr<ByteSource> source, size_t max_line)
      : window_(std::move(source)), max_line_(max_line) {}

  /// Returns the next line without its break, valid until the next call, or nullopt at the end.
  /// After the error that a line is too long (kLimit) continues with the line after it.
  Result<std::optional<std::string_view>> Next();

  /// Place of the line returned last, or of the one that was too long.
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

#endif  // RINGSCOPE_FORMATS_IO_BYTE_STREAM_H_
