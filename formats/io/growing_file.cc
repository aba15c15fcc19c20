#include "formats/io/growing_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "formats/io/descriptor_io.h"
#include "formats/io/file_lock.h"
#include "formats/io/run_files.h"

namespace ringscope {
namespace {

tl::unexpected<Error> LockedError(const std::string& by, const std::string& path) {
  return Fail(ErrorCode::kIo, "the file is " + by, {path, {}, {}},
              "choose another name, or stop that recorder first");
}

}  // namespace

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
  const int error = WriteAll(fd_, bytes).error;
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
  const int fd = std::exchange(fd_, -1);
  if (fd < 0 || ::close(fd) == 0 || errno == EINTR) return {};
  return SystemError("cannot finish writing", errno, path_, WriteHint(errno));
}

}  // namespace ringscope
