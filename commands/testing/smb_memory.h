#ifndef RINGSCOPE_COMMANDS_TESTING_SMB_MEMORY_H_
#define RINGSCOPE_COMMANDS_TESTING_SMB_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "commands/record/socket.h"
#include "core/base/result.h"
#include "formats/ipc/smb.h"

namespace ringscope::testing {

/// Of a shared memory buffer.
struct MemorySizes {
  size_t bytes = 0;
  size_t page_bytes = 0;
};
inline constexpr MemorySizes kDefaultMemory{256 * 1024, 4096};
/// What a producer gets. @param config of the session's config for it. Zeros: nothing is asked for
MemorySizes NegotiatedMemory(MemorySizes config, MemorySizes hint);

/// A shared memory buffer as its producer and the service use it: both write to it.
class SmbMemory : public smb::Memory {
 public:
  /// Makes memory. @param sealed against shrinking
  static Result<SmbMemory> Create(size_t bytes, size_t page_bytes, bool sealed = true);
  /// Another's memory.
  static Result<SmbMemory> Map(UniqueFd fd, size_t page_bytes);
  ~SmbMemory() override;
  SmbMemory(SmbMemory&& other) noexcept;
  SmbMemory& operator=(SmbMemory&&) = delete;

  const UniqueFd& fd() const { return fd_; }
  size_t size() const override { return size_; }
  size_t page_bytes() const { return page_bytes_; }
  size_t page_count() const { return size_ / page_bytes_; }
  bool Read(size_t offset, std::span<uint8_t> into) const override;

  /// The bitmap of a page, which all who share the memory change.
  std::atomic_ref<uint32_t> bitmap(size_t page) const {
    return std::atomic_ref<uint32_t>(*reinterpret_cast<uint32_t*>(data_ + page * page_bytes_));
  }
  uint8_t* data() const { return data_; }
  /// A chunk of a page that is divided into so many, header first.
  std::span<uint8_t> chunk(smb::ChunkPlace place, size_t chunks) const;

 private:
  SmbMemory(UniqueFd fd, uint8_t* data, size_t size, size_t page_bytes)
      : fd_(std::move(fd)), data_(data), size_(size), page_bytes_(page_bytes) {}

  UniqueFd fd_;
  uint8_t* data_;
  size_t size_;
  size_t page_bytes_;
};

/// A page's bitmap: one chunk, in this state.
constexpr uint32_t OneChunk(smb::ChunkState state) {
  return 1u << 28 | static_cast<uint32_t>(state);
}

/// A producer's shared memory with one chunk in each page.
class TestMemory : public SmbMemory {
 public:
  static constexpr size_t kPage = 4096;
  static constexpr size_t kChunkBytes = kPage - smb::kPageHeaderBytes;

  /// @param sealed against shrinking
  TestMemory(size_t bytes, bool sealed) : SmbMemory(Create(bytes, kPage, sealed).value()) {}
  /// Maps another's memory.
  explicit TestMemory(UniqueFd fd) : SmbMemory(Map(std::move(fd), kPage).value()) {}

  int fd() const { return SmbMemory::fd().get(); }
  /// A page's only chunk, header first.
  uint8_t* chunk(size_t page) const { return SmbMemory::chunk({page, 0}, 1).data(); }
};

/// The bits of a page's bitmap that hold the state of a chunk.
constexpr uint32_t StateBits(smb::ChunkState state, size_t chunk) {
  return static_cast<uint32_t>(state) << (2 * chunk);
}
/// A page's bitmap without its layout: the states of all its chunks.
inline constexpr uint32_t kAllStates = (1u << (2 * smb::kMaxChunksPerPage)) - 1;

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_SMB_MEMORY_H_
