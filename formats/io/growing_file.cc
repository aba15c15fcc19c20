#include "formats/io/growing_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "formats/io/descriptor_io.h"

namespace ringscope {

Result<std::unique_ptr<GrowingFile>> GrowingFile::Create(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kNewFileMode);
  if (fd < 0) {
    return SystemError("cannot create", errno, path, "the folder must exist, and allow new files");
  }
  return std::unique_ptr<GrowingFile>(new GrowingFile(fd, path));
}

GrowingFile::~GrowingFile() {
  if (fd_ >= 0) ::close(fd_);
}

Status GrowingFile::Write(Bytes bytes) {
  if (const int error = WriteAll(fd_, bytes).error; error != 0) {
    // A file that cannot be cut, such as a pipe, ends with a part of it, which its readers detect.
    static_cast<void>(::ftruncate(fd_, static_cast<off_t>(written_)) == 0);
    return SystemError("cannot write", error, path_, WriteHint(error));
  }
  written_ += bytes.size();
  return {};
}

Status GrowingFile::Close() {
  const int fd = std::exchange(fd_, -1);
  if (fd < 0 || ::close(fd) == 0 || errno == EINTR) return {};
  return SystemError("cannot finish writing", errno, path_, WriteHint(errno));
}

}  // namespace ringscope
