#include "core/smb/memory_picture.h"

#include <bit>

namespace ringscope::smb {
namespace {

uint64_t CountBits(uint32_t bits) { return static_cast<uint64_t>(std::popcount(bits)); }

}  // namespace

ChunkCounts MemoryPicture::Count() const {
  ChunkCounts counts;
  for (const Page& page : pages_) {
    const PageBitmap bitmap = page.bitmap();
    if (bitmap.is_undivided()) {
      ++counts.free;
      continue;
    }
    if (bitmap.chunks() == 0) ++counts.bad_pages;
    // The lower and the upper bit of each chunk's state.
    const uint32_t chunks = 0x5555'5555u & ((1u << (2 * bitmap.chunks())) - 1);
    const uint32_t low = page.bits & chunks;
    const uint32_t high = page.bits >> 1 & chunks;
    counts.free += CountBits(chunks & ~low & ~high);
    counts.being_written += CountBits(low & ~high);
    counts.being_read += CountBits(high & ~low);
    counts.complete += CountBits(low & high);
  }
  return counts;
}

}  // namespace ringscope::smb
