#ifndef RINGSCOPE_CORE_PERFETTO_MEMORY_PICTURE_H_
#define RINGSCOPE_CORE_PERFETTO_MEMORY_PICTURE_H_

#include <vector>

#include "core/base/enum_names.h"
#include "core/base/ids.h"
#include "core/base/result.h"

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

/// Owner of a chunk by its header. All 0: the chunk was just taken, and its header is not written
/// yet.
struct ChunkHolder {
  WriterId writer{};
  ChunkId chunk{};
  friend bool operator==(const ChunkHolder&, const ChunkHolder&) = default;
};

/// Chunks by state. A page that is not divided counts as one free chunk, which it becomes for the
/// writers that are known.
struct ChunkCounts {
  uint64_t free = 0;
  uint64_t being_written = 0;
  uint64_t being_read = 0;
  uint64_t complete = 0;
  uint64_t bad_pages = 0;  // whose bitmap makes no sense

  uint64_t used() const { return being_written + being_read + complete; }
  uint64_t all() const { return free + used(); }
  friend bool operator==(const ChunkCounts&, const ChunkCounts&) = default;
};

/// Perfetto's largest shared memory has so many pages. Larger ones are not looked at.
inline constexpr size_t kMaxPagesOfPicture = 8192;

/// Page and chunk headers of a shared memory buffer at one look. Whatever they
/// hold, there is a picture of it.
class MemoryPicture {
 public:
  struct Page {
    uint32_t bits = 0;  // see PageBitmap
    /// Valid for the chunks that have a header in the bitmap.
    std::array<ChunkHolder, kMaxChunksPerPage> holders = {};
    PageBitmap bitmap() const { return PageBitmap(bits); }

    friend bool operator==(const Page& a, const Page& b) {
      if (a.bits != b.bits) return false;
      const PageBitmap bitmap = a.bitmap();
      for (size_t chunk = 0; chunk < bitmap.chunks(); ++chunk)
        if (bitmap.HasHeader(chunk) && a.holders[chunk] != b.holders[chunk]) return false;
      return true;
    }
  };

  /// All pages are 0.
  explicit MemoryPicture(size_t pages = 0) : pages_(pages) {}

  const std::vector<Page>& pages() const { return pages_; }
  /// Sets a page's bitmap; set the holders of its chunks, too.
  void SetBits(size_t page, uint32_t bits) { pages_[page].bits = bits; }
  void SetPage(size_t page, const Page& seen) { pages_[page] = seen; }
  void SetHolder(size_t page, size_t chunk, ChunkHolder holder) {
    pages_[page].holders[chunk] = holder;
  }
  ChunkCounts Count() const;

  friend bool operator==(const MemoryPicture&, const MemoryPicture&) = default;

 private:
  std::vector<Page> pages_;
};

// The changes from one picture of a memory to the next are the `pages` of a SharedMemoryLook: runs
// of pages with the same bitmap. formats/log/commit_log.md has the specification.

/// Appends the changes that turn `before` into `now`, which has as many pages.
void AppendChanges(const MemoryPicture& before, const MemoryPicture& now, std::string& out);

/// Applies changes to a picture. Fails with kCorrupt if they do not fit a memory of so many pages;
/// the picture is of no use then.
Status ApplyChanges(Bytes changes, MemoryPicture& picture);

}  // namespace ringscope::smb

template <>
inline constexpr std::array ringscope::kEnumNames<ringscope::smb::ChunkState> = {
    "free", "being_written", "being_read", "complete"};

#endif  // RINGSCOPE_CORE_PERFETTO_MEMORY_PICTURE_H_
