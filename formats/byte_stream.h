#ifndef RINGSCOPE_FORMATS_BYTE_STREAM_H_
#define RINGSCOPE_FORMATS_BYTE_STREAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/ids.h"
#include "core/result.h"

namespace ringscope {

/// Bytes in order: a file, standard input, a decompressed stream, a string.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Reads up to `into.size()` bytes. @return bytes read; 0: the end
  virtual Result<size_t> Read(std::span<uint8_t> into) = 0;
  /// Name for messages; "-" for standard input.
  virtual const std::string& path() const = 0;
  /// Bytes of the underlying file, if it has a size.
  virtual std::optional<uint64_t> size() const { return std::nullopt; }
  /// Reads at an offset without moving the stream; only if CanReadAt(). Short at the file's end.
  virtual Result<size_t> ReadAt(uint64_t offset, std::span<uint8_t> into);
  virtual bool CanReadAt() const { return false; }
};

/// Opens a file, or standard input for "-".
Result<std::unique_ptr<ByteSource>> OpenByteSource(const std::string& path);
/// A source over bytes in memory (copied). For tests and fuzzers.
std::unique_ptr<ByteSource> MakeMemorySource(std::string bytes, std::string path = "memory");

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual Status Write(Bytes bytes) = 0;
  Status Write(std::string_view text);
};

/// Appends to a string. For tests and for results in memory.
class StringSink : public ByteSink {
 public:
  using ByteSink::Write;
  Status Write(Bytes bytes) override;
  std::string text;
};

/// A file that appears whole or not at all: written under a temporary name beside its place and
/// renamed by Commit; removed again if it is dropped without. "-" writes to standard output.
class OutputFile : public ByteSink {
 public:
  static Result<std::unique_ptr<OutputFile>> Create(const std::string& path);
  using ByteSink::Write;
  /// Flushes, renames. Call once, last.
  virtual Status Commit() = 0;
  virtual const std::string& path() const = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_BYTE_STREAM_H_
