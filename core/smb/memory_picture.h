#ifndef RINGSCOPE_CORE_SMB_MEMORY_PICTURE_H_
#define RINGSCOPE_CORE_SMB_MEMORY_PICTURE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/smb/page_layout.h"

namespace ringscope::smb {

/// Whose chunk it is, by its header. All 0: it was just taken, and its header is not written yet.
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

/// What the page and chunk headers of a shared memory buffer showed at one look. Whatever they
/// hold, there is a picture of it.
class MemoryPicture {
 public:
  struct Page {
    uint32_t bits = 0;  // see PageBitmap
    /// Of the chunks that have a header in the bitmap; of the others they mean nothing.
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

}  // namespace ringscope::smb

#endif  // RINGSCOPE_CORE_SMB_MEMORY_PICTURE_H_
