#ifndef RINGSCOPE_FORMATS_IO_GROWING_FILE_H_
#define RINGSCOPE_FORMATS_IO_GROWING_FILE_H_

#include <memory>
#include <string>

#include "formats/io/byte_stream.h"

namespace ringscope {

/// A file that exists under its own name from the start and grows write by write, so that what
/// was written is kept whatever happens to this process. A write that fails leaves none of its
/// bytes in the file, if the file can be truncated.
class GrowingFile : public ByteSink {
 public:
  /// Replaces a file of that name.
  static Result<std::unique_ptr<GrowingFile>> Create(const std::string& path);
  ~GrowingFile() override;
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  using ByteSink::Write;
  Status Write(Bytes bytes) override;
  /// Call once, last. Returns errors that the file system reports only now.
  Status Close();
  const std::string& path() const { return path_; }

 private:
  GrowingFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  int fd_;
  std::string path_;
  uint64_t written_ = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_IO_GROWING_FILE_H_
