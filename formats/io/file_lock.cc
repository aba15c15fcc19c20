#include "formats/io/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

namespace ringscope {
namespace {

// The first lock is of the open file description: it excludes other descriptors of this process
// too. As it does not state who holds it, a traditional lock of the next byte does.
constexpr off_t kLockByte = off_t{1} << 62;
constexpr off_t kPidByte = kLockByte + 1;

struct flock ByteLock(short type, off_t byte) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

}  // namespace

bool LockFile(int fd) {
  struct flock lock = ByteLock(F_WRLCK, kLockByte);
  if (::fcntl(fd, F_OFD_SETLK, &lock) != 0 && (errno == EAGAIN || errno == EACCES)) return false;
  // A file system without locks protects nothing, but can be written to.
  struct flock named = ByteLock(F_WRLCK, kPidByte);
  static_cast<void>(::fcntl(fd, F_SETLK, &named));
  return true;
}

std::optional<std::string> RecordedBy(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return std::nullopt;
  struct flock lock = ByteLock(F_RDLCK, kLockByte);
  struct flock named = ByteLock(F_RDLCK, kPidByte);
  const bool is_locked = ::fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  const bool is_named = ::fcntl(fd, F_GETLK, &named) == 0 && named.l_type != F_UNLCK;
  ::close(fd);
  if (!is_locked) return std::nullopt;
  return is_named && named.l_pid > 0 ? fmt::format("being recorded by process {}", named.l_pid)
                                     : "being recorded by another process";
}

}  // namespace ringscope
