#include "formats/io/growing_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "formats/io/descriptor_io.h"
#include "formats/io/output_file.h"

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

tl::unexpected<Error> LockedError(const std::string& by, const std::string& path) {
  return Fail(ErrorCode::kIo, "the file is " + by, {path, {}, {}},
              "choose another name, or stop that recorder first");
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

Result<std::unique_ptr<GrowingFile>> GrowingFile::Create(const std::string& path,
                                                         Existing existing) {
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  const bool is_regular = !exists || S_ISREG(info.st_mode);
  if (exists && is_regular) RS_RETURN_IF_ERROR(RunFiles::CheckOutput(info, path));
  const bool may_exist = existing == Existing::kReplace || !is_regular;
  if (!may_exist && exists) {
    if (const auto by = RecordedBy(path)) return LockedError(*by, path);
    return Fail(ErrorCode::kUsage, "the file exists already", {path, {}, {}},
                "choose another name, or replace it with --force");
  }
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (may_exist ? 0 : O_EXCL);
  const int fd = ::open(path.c_str(), flags, kNewFileMode);
  if (fd < 0)
    return SystemError("cannot create", errno, path, "the folder must exist, and allow new files");
  std::unique_ptr<GrowingFile> file(new GrowingFile(fd, path));
  if (is_regular && !LockFile(fd))
    return LockedError(RecordedBy(path).value_or("being recorded by another process"), path);
  if (is_regular && ::ftruncate(fd, 0) != 0) return SystemError("cannot empty", errno, path);
  return file;
}

GrowingFile::~GrowingFile() {
  if (fd_ >= 0) ::close(fd_);
}

Status GrowingFile::Write(Bytes bytes) {
  constexpr size_t kPieceBytes = 64 * 1024;
  int error = 0;
  for (Bytes rest = bytes; error == 0 && !rest.empty(); pause_()) {
    const Bytes piece = rest.first(std::min(kPieceBytes, rest.size()));
    error = WriteAll(fd_, piece).error;
    rest = rest.subspan(piece.size());
  }
  disk_was_full_ = error == ENOSPC || error == EDQUOT;
  if (error != 0) {
    // A file that cannot be cut, such as a pipe, ends with a part of it, which its readers detect.
    if (::ftruncate(fd_, static_cast<off_t>(written_)) == 0)
      ::lseek(fd_, static_cast<off_t>(written_), SEEK_SET);
    return SystemError("cannot write", error, path_, WriteHint(error));
  }
  written_ += bytes.size();
  return {};
}

Status GrowingFile::Close() {
  return fd_ < 0 ? Status() : CloseWritten(std::exchange(fd_, -1), path_);
}

}  // namespace ringscope
