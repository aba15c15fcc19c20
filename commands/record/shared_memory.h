#ifndef RINGSCOPE_COMMANDS_RECORD_SHARED_MEMORY_H_
#define RINGSCOPE_COMMANDS_RECORD_SHARED_MEMORY_H_

#include <cstddef>
#include <memory>
#include <span>

#include "commands/record/unique_fd.h"
#include "core/base/result.h"
#include "formats/ipc/smb.h"

namespace ringscope {

/// A file in memory that other processes share, for reading. It may shrink: reading a page of a
/// mapping that is gone would end this process (SIGBUS). So it is mapped only if it is sealed
/// against that; else it is read by system calls, which return less than asked for.
class SharedMemory : public smb::Memory {
 public:
  /// More than this is no shared memory buffer: Perfetto's have at most 32 MiB.
  static constexpr size_t kMaxBytes = size_t{256} << 20;

  /// @param fd stays the caller's
  static Result<std::unique_ptr<SharedMemory>> Open(const UniqueFd& fd);
  ~SharedMemory() override;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  size_t size() const override { return size_; }
  bool Read(size_t offset, std::span<uint8_t> into) const override;
  bool is_mapped() const { return mapped_ != nullptr; }

 private:
  SharedMemory(UniqueFd fd, size_t size, const uint8_t* mapped)
      : fd_(std::move(fd)), size_(size), mapped_(mapped) {}

  UniqueFd fd_;
  size_t size_;
  const uint8_t* mapped_;  // nullptr: read by system calls
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_SHARED_MEMORY_H_
