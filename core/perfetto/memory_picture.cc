#include "core/perfetto/memory_picture.h"

#include <fmt/format.h>

#include <bit>

#include "core/base/wire.h"

namespace ringscope::smb {
namespace {

using Page = MemoryPicture::Page;

uint64_t CountBits(uint32_t bits) { return static_cast<uint64_t>(std::popcount(bits)); }

/// The layout's bits are put lowest: the usual pages take one byte.
constexpr uint32_t kHighBits = 32 - PageBitmap::kLayoutShift;
constexpr uint32_t kStateMask = (1u << PageBitmap::kLayoutShift) - 1;

constexpr uint64_t CodeOf(uint32_t bits) {
  return uint64_t{bits & kStateMask} << kHighBits | bits >> PageBitmap::kLayoutShift;
}
constexpr uint32_t BitsOf(uint64_t code) {
  return static_cast<uint32_t>(code >> kHighBits) |
         static_cast<uint32_t>(code & ((1u << kHighBits) - 1)) << PageBitmap::kLayoutShift;
}

/// The last chunk ids in a record, by writer, of as many writers as usually occur in one.
using LastChunks = std::array<ChunkHolder, 64>;
ChunkId& LastOf(WriterId writer, LastChunks& holders) {
  ChunkHolder& last = holders[Raw(writer) % holders.size()];
  if (last.writer != writer) last = {writer, ChunkId{}};
  return last.chunk;
}

void AppendHolders(const Page& before, const Page& now, LastChunks& last, std::string& out) {
  const PageBitmap bitmap = now.bitmap();
  const bool same_layout = before.bitmap().layout() == bitmap.layout();
  for (size_t chunk = 0; chunk < bitmap.chunks(); ++chunk) {
    if (!bitmap.HasHeader(chunk)) continue;
    const ChunkHolder& holder = now.holders[chunk];
    if (same_layout && before.bitmap().HasHeader(chunk) && before.holders[chunk] == holder) {
      wire::AppendVarint(out, 0);
      continue;
    }
    wire::AppendVarint(out, uint64_t{Raw(holder.writer)} + 1);
    ChunkId& previous = LastOf(holder.writer, last);
    wire::AppendVarint(out, wire::ZigZag(SignedDistance(previous, holder.chunk)));
    previous = holder.chunk;
  }
}

/// Takes the number at the front; nullopt if there is none, or it is more than `max`.
std::optional<uint64_t> NextNumber(Bytes& bytes, uint64_t max) {
  const wire::Varint read = wire::ReadVarint(bytes);
  if (read.size == 0 || read.value > max) return std::nullopt;
  bytes = bytes.subspan(read.size);
  return read.value;
}

/// @return whether the page's holders are there
bool ReadHolders(Bytes& changes, const Page& before, LastChunks& last, Page& now) {
  const PageBitmap bitmap = now.bitmap();
  const bool same_layout = before.bitmap().layout() == bitmap.layout();
  for (size_t chunk = 0; chunk < bitmap.chunks(); ++chunk) {
    if (!bitmap.HasHeader(chunk)) continue;
    const auto writer = NextNumber(changes, uint64_t{UINT16_MAX} + 1);
    if (!writer) return false;
    if (*writer == 0) {
      if (!same_layout || !before.bitmap().HasHeader(chunk)) return false;
      now.holders[chunk] = before.holders[chunk];
      continue;
    }
    const auto difference = NextNumber(changes, UINT32_MAX);
    if (!difference) return false;
    const WriterId id{static_cast<uint16_t>(*writer - 1)};
    const int32_t steps = wire::UnZigZag(static_cast<uint32_t>(*difference));
    ChunkId& previous = LastOf(id, last);
    previous = ChunkId{Raw(previous) + static_cast<uint32_t>(steps)};
    now.holders[chunk] = {id, previous};
  }
  return true;
}

}  // namespace

ChunkCounts MemoryPicture::Count() const {
  ChunkCounts counts;
  for (const Page& page : pages_) {
    const PageBitmap bitmap = page.bitmap();
    if (page.bits == 0) {  // not divided: a writer may divide it
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

void AppendChanges(const MemoryPicture& before, const MemoryPicture& now, std::string& out) {
  const std::vector<Page>& old_pages = before.pages();
  const std::vector<Page>& pages = now.pages();
  LastChunks last;
  size_t done = 0;
  for (size_t page = 0; page < pages.size();) {
    if (pages[page] == old_pages[page]) {
      ++page;
      continue;
    }
    size_t end = page + 1;
    while (end < pages.size() && pages[end].bits == pages[page].bits &&
           pages[end] != old_pages[end])
      ++end;
    wire::AppendVarint(out, page - done);
    wire::AppendVarint(out, end - page);
    wire::AppendVarint(out, CodeOf(pages[page].bits));
    for (; page < end; ++page) AppendHolders(old_pages[page], pages[page], last, out);
    done = end;
  }
}

Status ApplyChanges(Bytes changes, MemoryPicture& picture) {
  LastChunks last;
  const size_t pages = picture.pages().size();
  size_t page = 0;
  while (!changes.empty()) {
    const auto skip = NextNumber(changes, pages - page);
    const auto run = skip ? NextNumber(changes, pages - page - *skip) : std::nullopt;
    const auto code = run ? NextNumber(changes, CodeOf(UINT32_MAX)) : std::nullopt;
    if (!code || *run == 0)
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("no run of pages of a memory of {} after page {}", pages, page));
    page += static_cast<size_t>(*skip);
    for (const size_t end = page + static_cast<size_t>(*run); page < end; ++page) {
      Page now{.bits = BitsOf(*code)};
      if (!ReadHolders(changes, picture.pages()[page], last, now))
        return Fail(ErrorCode::kCorrupt, fmt::format("page {} lacks a chunk's holder", page));
      picture.SetPage(page, now);
    }
  }
  return {};
}

}  // namespace ringscope::smb
