#ifndef RINGSCOPE_FORMATS_IO_FILE_LOCK_H_
#define RINGSCOPE_FORMATS_IO_FILE_LOCK_H_

#include <sys/types.h>

#include <optional>
#include <string>

namespace ringscope {

// The lock of a log that is being recorded. It ends with its process, and hinders no reader.

/// Who holds a file's lock.
struct LockOwner {
  std::optional<pid_t> pid;  // absent: not known
};

/// Locks a file that is open for writing. @return false: another descriptor has locked it
bool LockFile(int fd);
/// Who has the file locked through another descriptor; nullopt: nobody. Changes nothing.
std::optional<LockOwner> LockOwnerOf(int fd);
/// The same of a file by its name; nullopt also if it cannot be opened.
std::optional<LockOwner> LockOwnerOf(const std::string& path);

/// "being recorded by process 123"
std::string BeingRecordedBy(const LockOwner& owner);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_IO_FILE_LOCK_H_
