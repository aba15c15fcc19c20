#ifndef RINGSCOPE_FORMATS_IO_TEMPORARY_FILE_H_
#define RINGSCOPE_FORMATS_IO_TEMPORARY_FILE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "formats/io/byte_stream.h"

namespace ringscope {

/// Returns TMPDIR, or else `otherwise`.
std::string TemporaryFolder(std::string otherwise = "/tmp");

struct TemporaryFileOptions {
  std::string folder = TemporaryFolder();
  // For messages: what the file is, the input that needs it (else the folder is named), and a hint.
  std::string what = "a temporary file";
  std::string path;
  std::string hint = "set TMPDIR to a folder with space";
};

/// A file without a name: nothing is left of it once it and its sources are gone.
class TemporaryFile : public ByteSink {
 public:
  static Result<std::shared_ptr<TemporaryFile>> Create(TemporaryFileOptions options = {});
  ~TemporaryFile() override;
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  using ByteSink::Write;
  /// Appends. What a write that failed got done stays and counts.
  Status Write(Bytes bytes) override;
  /// Short only at the file's end. Threads may read at the same time.
  Result<size_t> ReadAt(uint64_t offset, std::span<uint8_t> into) const;
  /// Bytes written.
  uint64_t size() const { return size_; }
  /// Returns a name under which this process can open the file.
  std::string OwnName() const;

 private:
  TemporaryFile(int fd, TemporaryFileOptions options) : fd_(fd), options_(std::move(options)) {}

  const int fd_;
  const TemporaryFileOptions options_;
  uint64_t size_ = 0;
};

/// Reads the file from its start. @param path for messages
std::unique_ptr<ByteSource> OpenTemporary(std::shared_ptr<const TemporaryFile> file,
                                          std::string path);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_IO_TEMPORARY_FILE_H_
