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

std::optional<LockOwner> LockOwnerOf(int fd) {
  struct flock lock = ByteLock(F_RDLCK, kLockByte);
  if (::fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return std::nullopt;
  LockOwner owner;
  struct flock named = ByteLock(F_RDLCK, kPidByte);
  if (::fcntl(fd, F_GETLK, &named) == 0 && named.l_type != F_UNLCK && named.l_pid > 0)
    owner.pid = named.l_pid;
  return owner;
}

std::optional<LockOwner> LockOwnerOf(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return std::nullopt;
  const std::optional<LockOwner> owner = LockOwnerOf(fd);
  ::close(fd);
  return owner;
}

std::string BeingRecordedBy(const LockOwner& owner) {
  if (!owner.pid) return "being recorded by another process";
  return fmt::format("being recorded by process {}", *owner.pid);
}

}  // namespace ringscope
