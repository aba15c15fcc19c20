#ifndef RINGSCOPE_FORMATS_IO_FILE_LOCK_H_
#define RINGSCOPE_FORMATS_IO_FILE_LOCK_H_

#include <optional>
#include <string>

namespace ringscope {

// The lock of a log that is being recorded. It ends with its process, and hinders no reader.

/// Locks a file that is open for writing. @return false if another descriptor has locked it
bool LockFile(int fd);
/// Returns "being recorded by process 123" if another descriptor has the file locked.
std::optional<std::string> RecordedBy(const std::string& path);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_IO_FILE_LOCK_H_
