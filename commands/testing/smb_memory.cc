#include "commands/testing/smb_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace ringscope::testing {

MemorySizes NegotiatedMemory(MemorySizes config, MemorySizes hint) {
  constexpr MemorySizes kMost{32 * 1024 * 1024, 32 * 1024};
  const auto first_of = [](size_t wanted, size_t hinted, size_t otherwise) {
    return wanted != 0 ? wanted : hinted != 0 ? hinted : otherwise;
  };
  const size_t page = std::min(
      first_of(config.page_bytes, hint.page_bytes, kDefaultMemory.page_bytes), kMost.page_bytes);
  const size_t bytes =
      std::min(first_of(config.bytes, hint.bytes, kDefaultMemory.bytes), kMost.bytes);
  return smb::IsPageSize(page) && bytes % page == 0 ? MemorySizes{bytes, page} : kDefaultMemory;
}

Result<SmbMemory> SmbMemory::Create(size_t bytes, size_t page_bytes, bool sealed) {
  UniqueFd fd(::memfd_create("ringscope-smb", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid() || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0 ||
      (sealed && ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)) {
    return Fail(ErrorCode::kIo, fmt::format("cannot make shared memory of {} bytes: {}", bytes,
                                            std::strerror(errno)));
  }
  return Map(std::move(fd), page_bytes);
}

Result<SmbMemory> SmbMemory::Map(UniqueFd fd, size_t page_bytes) {
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || info.st_size <= 0 || !smb::IsPageSize(page_bytes)) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("cannot use shared memory with pages of {} bytes", page_bytes));
  }
  const auto size = static_cast<size_t>(info.st_size);
  void* const mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (mapped == MAP_FAILED) {
    return Fail(ErrorCode::kIo, fmt::format("cannot map shared memory: {}", std::strerror(errno)));
  }
  return SmbMemory(std::move(fd), static_cast<uint8_t*>(mapped), size, page_bytes);
}

SmbMemory::~SmbMemory() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

SmbMemory::SmbMemory(SmbMemory&& other) noexcept
    : fd_(std::move(other.fd_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(other.size_),
      page_bytes_(other.page_bytes_) {}

bool SmbMemory::Read(size_t offset, std::span<uint8_t> into) const {
  if (offset > size_ || into.size() > size_ - offset) return false;
  std::memcpy(into.data(), data_ + offset, into.size());
  std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

std::span<uint8_t> SmbMemory::chunk(smb::ChunkPlace place, size_t chunks) const {
  const size_t bytes = smb::ChunkBytes(page_bytes_, chunks);
  return {data_ + place.page * page_bytes_ + smb::kPageHeaderBytes + place.chunk * bytes, bytes};
}

}  // namespace ringscope::testing
