#include "commands/record/shared_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "formats/io/descriptor_io.h"

namespace ringscope {

Result<std::unique_ptr<SharedMemory>> SharedMemory::Open(const UniqueFd& fd) {
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) {
    return Fail(ErrorCode::kIo,
                fmt::format("sent shared memory that cannot be examined: {}", strerror(errno)));
  }
  const auto size = static_cast<size_t>(info.st_size);
  if (info.st_size <= 0 || size > kMaxBytes) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("sent shared memory of {} bytes, 1 to {} are possible", info.st_size,
                            kMaxBytes));
  }
  UniqueFd own = fd.Duplicate();
  if (!own.valid())
    return Fail(ErrorCode::kIo, fmt::format("cannot keep a descriptor: {}", strerror(errno)));
  const int seals = ::fcntl(own.get(), F_GET_SEALS);
  void* mapped = MAP_FAILED;
  if (seals >= 0 && (seals & F_SEAL_SHRINK) != 0)
    mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, own.get(), 0);
  const auto* const memory = mapped == MAP_FAILED ? nullptr : static_cast<const uint8_t*>(mapped);
  return std::unique_ptr<SharedMemory>(new SharedMemory(std::move(own), size, memory));
}

SharedMemory::~SharedMemory() {
  if (mapped_ != nullptr) ::munmap(const_cast<uint8_t*>(mapped_), size_);
}

bool SharedMemory::Read(size_t offset, std::span<uint8_t> into) const {
  if (offset > size_ || into.size() > size_ - offset) return false;
  if (mapped_ != nullptr) {
    // What is read first must be what was there first: the others' writes are ordered too.
    std::memcpy(into.data(), mapped_ + offset, into.size());
    std::atomic_thread_fence(std::memory_order_acquire);
    return true;
  }
  return ReadAllAt(fd_.get(), offset, into) == into.size();
}

}  // namespace ringscope
