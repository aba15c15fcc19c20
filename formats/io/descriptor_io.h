#ifndef RINGSCOPE_FORMATS_IO_DESCRIPTOR_IO_H_
#define RINGSCOPE_FORMATS_IO_DESCRIPTOR_IO_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/base/ids.h"
#include "core/base/result.h"

namespace ringscope {

// Files by their descriptor: what all that read and write them share.

/// Permissions of a new file, less the umask.
inline constexpr mode_t kNewFileMode = 0666;

struct WriteOutcome {
  size_t written = 0;  // bytes, also before a failure
  int error = 0;       // errno of the call that failed, or 0
};

/// Writes all bytes, in as many calls as that takes.
WriteOutcome WriteAll(int fd, Bytes bytes);
/// Reads at an offset until `into` is full or the file ends. @return nullopt and errno on failure
std::optional<size_t> ReadAllAt(int fd, uint64_t offset, std::span<uint8_t> into);

/// "cannot open: No such file or directory", at a path, for an errno.
tl::unexpected<Error> SystemError(const std::string& what, int error, const std::string& path,
                                  std::string hint = {});
/// Closes a file that was written. @return errors that the file system reports only now
Status CloseWritten(int fd, const std::string& path);
/// Returns what a user can do about a write that failed, or an empty text.
std::string WriteHint(int error);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_IO_DESCRIPTOR_IO_H_
