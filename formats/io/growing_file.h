#ifndef RINGSCOPE_FORMATS_IO_GROWING_FILE_H_
#define RINGSCOPE_FORMATS_IO_GROWING_FILE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "formats/io/byte_stream.h"

namespace ringscope {

// The lock of a log that is being recorded. It ends with its process, and hinders no reader.

/// Locks a file that is open for writing. @return false if another descriptor has locked it
bool LockFile(int fd);
/// Returns "being recorded by process 123" if another descriptor has the file locked.
std::optional<std::string> RecordedBy(const std::string& path);

/// A file under its own name that grows write by write, and is kept whatever happens to the
/// process. It is locked while it is open. A write that fails leaves none of its bytes, if
/// possible.
class GrowingFile : public ByteSink {
 public:
  /// Choice for a regular file of that name. Pipes and devices are written to.
  enum class Existing : uint8_t { kRefuse, kReplace };

  static Result<std::unique_ptr<GrowingFile>> Create(const std::string& path, Existing existing);
  ~GrowingFile() override;
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  using ByteSink::Write;
  Status Write(Bytes bytes) override;
  /// Has Write call this after each 64 KiB, so that a thread can leave its processor to others.
  void SetPause(std::function<void()> pause) { pause_ = std::move(pause); }
  /// Returns true if the last Write failed as the file system was full: it may succeed later.
  bool disk_was_full() const { return disk_was_full_; }
  /// Call once, last. Returns errors that the file system reports only now.
  Status Close();
  const std::string& path() const { return path_; }

 private:
  GrowingFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  int fd_;
  std::string path_;
  std::function<void()> pause_ = [] {};
  uint64_t written_ = 0;
  bool disk_was_full_ = false;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_IO_GROWING_FILE_H_
