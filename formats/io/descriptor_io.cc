#include "formats/io/descriptor_io.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ringscope {

WriteOutcome WriteAll(int fd, Bytes bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (written >= 0)
      done += static_cast<size_t>(written);
    else if (errno != EINTR)
      return {done, errno};
  }
  return {done, 0};
}

std::optional<size_t> ReadAllAt(int fd, uint64_t offset, std::span<uint8_t> into) {
  size_t done = 0;
  while (done < into.size()) {
    const ssize_t got =
        ::pread(fd, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (got == 0) break;
    if (got > 0)
      done += static_cast<size_t>(got);
    else if (errno != EINTR)
      return std::nullopt;
  }
  return done;
}

tl::unexpected<Error> SystemError(const std::string& what, int error, const std::string& path,
                                  std::string hint) {
  return Fail(ErrorCode::kIo, fmt::format("{}: {}", what, std::strerror(error)), {path, {}, {}},
              std::move(hint));
}

Status CloseWritten(int fd, const std::string& path) {
  if (::close(fd) == 0 || errno == EINTR) return {};
  return SystemError("cannot finish writing", errno, path, WriteHint(errno));
}

std::string WriteHint(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "free some space, or write to another file system";
    case EPIPE:
      return "the program that was to read the output has ended";
    default:
      return {};
  }
}

}  // namespace ringscope
