#ifndef RINGSCOPE_CORE_SMB_PAGE_LAYOUT_H_
#define RINGSCOPE_CORE_SMB_PAGE_LAYOUT_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/enum_names.h"

namespace ringscope::smb {

// How a producer's shared memory buffer (SMB) is divided. Source: Perfetto's shared-memory ABI.

inline constexpr size_t kMinPageBytes = 4096;
inline constexpr size_t kMaxPageBytes = 32768;
inline constexpr size_t kPageHeaderBytes = 8;  // u32 bitmap, u32 reserved
inline constexpr size_t kMaxChunksPerPage = 14;

enum class ChunkState : uint8_t {
  kFree = 0,
  kBeingWritten = 1,  // a writer has it
  kBeingRead = 2,     // the service copies it
  kComplete = 3,      // its writer has returned it
};

/// A page's bitmap: its layout and its chunks' states.
class PageBitmap {
 public:
  explicit constexpr PageBitmap(uint32_t bits) : bits_(bits) {}
  constexpr uint32_t bits() const { return bits_; }
  /// 0: not divided. 1 to 5: into 1, 2, 4, 7 or 14 chunks. 6 and 7 do not exist.
  constexpr uint32_t layout() const { return bits_ >> kLayoutShift & 7; }
  /// Chunks that the page is divided into; 0: not divided, or by a layout that does not exist.
  constexpr size_t chunks() const { return kChunks[layout()]; }
  constexpr ChunkState StateOf(size_t chunk) const {
    return static_cast<ChunkState>(bits_ >> (2 * chunk) & 3);
  }
  /// A writer has the chunk, or had it last: its header names the writer.
  constexpr bool HasHeader(size_t chunk) const {
    const ChunkState state = StateOf(chunk);
    return state == ChunkState::kBeingWritten || state == ChunkState::kComplete;
  }
  /// Whether the whole page is free: a writer may divide it.
  constexpr bool is_undivided() const { return bits_ == 0; }

  static constexpr uint32_t kLayoutShift = 28;

 private:
  static constexpr uint8_t kChunks[8] = {0, 1, 2, 4, 7, 14, 0, 0};
  uint32_t bits_;
};

/// Bytes of each chunk, header included, of a page that is divided into `chunks`.
constexpr size_t ChunkBytes(size_t page_bytes, size_t chunks) {
  return (page_bytes - kPageHeaderBytes) / chunks & ~size_t{3};
}

/// A power of two of 4096 to 32768.
constexpr bool IsPageSize(uint64_t bytes) {
  return bytes >= kMinPageBytes && bytes <= kMaxPageBytes && (bytes & (bytes - 1)) == 0;
}

}  // namespace ringscope::smb

template <>
inline constexpr std::array ringscope::kEnumNames<ringscope::smb::ChunkState> = {
    "free", "being_written", "being_read", "complete"};

#endif  // RINGSCOPE_CORE_SMB_PAGE_LAYOUT_H_
