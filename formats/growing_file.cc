#include "formats/growing_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ringscope {
namespace {

constexpr mode_t kFileMode = 0666;  // less the umask

tl::unexpected<Error> FileError(const char* what, int error, const std::string& path,
                                std::string hint) {
  return Fail(ErrorCode::kIo, fmt::format("{}: {}", what, std::strerror(error)), {path, {}, {}},
              std::move(hint));
}

std::string WriteHint(int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return full ? "free some space, or write to another file system" : "";
}

}  // namespace

Result<std::unique_ptr<GrowingFile>> GrowingFile::Create(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kFileMode);
  if (fd < 0) {
    return FileError("cannot create", errno, path, "the folder must exist, and allow new files");
  }
  return std::unique_ptr<GrowingFile>(new GrowingFile(fd, path));
}

GrowingFile::~GrowingFile() {
  if (fd_ >= 0) ::close(fd_);
}

Status GrowingFile::Write(Bytes bytes) {
  const size_t size = bytes.size();
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd_, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<size_t>(count));
    } else if (errno != EINTR) {
      const int error = errno;
      // A file that cannot be cut, such as a pipe, ends with a piece; its readers can tell.
      static_cast<void>(::ftruncate(fd_, static_cast<off_t>(written_)) == 0);
      return FileError("cannot write", error, path_, WriteHint(error));
    }
  }
  written_ += size;
  return {};
}

Status GrowingFile::Close() {
  const int fd = std::exchange(fd_, -1);
  if (fd < 0 || ::close(fd) == 0 || errno == EINTR) return {};
  return FileError("cannot finish writing", errno, path_, WriteHint(errno));
}

}  // namespace ringscope
