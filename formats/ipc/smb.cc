#include "formats/ipc/smb.h"

#include <cstring>

#include "core/base/wire.h"

namespace ringscope::smb {
namespace {

std::span<uint8_t> Grow(std::string& out, size_t bytes) {
  const size_t before = out.size();
  out.resize(before + bytes);
  return {reinterpret_cast<uint8_t*>(out.data()) + before, bytes};
}

}  // namespace

std::optional<PageBitmap> Pages::BitmapOf(uint64_t page) const {
  std::array<uint8_t, sizeof(uint32_t)> bytes;
  if (!memory_.Read(static_cast<size_t>(page) * page_bytes_, bytes)) return std::nullopt;
  return PageBitmap(wire::LoadLittleEndian<uint32_t>(bytes.data()));
}

bool Pages::AppendComplete(ChunkPlace place, std::string& out) const {
  const auto bitmap = place.page < count() ? BitmapOf(place.page) : std::nullopt;
  if (!bitmap || place.chunk >= bitmap->chunks() ||
      bitmap->StateOf(static_cast<size_t>(place.chunk)) != ChunkState::kComplete)
    return false;
  const size_t bytes = ChunkBytes(page_bytes_, bitmap->chunks());
  const size_t before = out.size();
  if (memory_.Read(ChunkOffset(place, bytes), Grow(out, bytes))) return true;
  out.resize(before);
  return false;
}

bool Pages::Scan(const Take& take, std::vector<FoundChunk>& found, std::string& out) const {
  const uint64_t pages = count();
  for (uint64_t page = 0; page < pages; ++page) {
    const auto bitmap = BitmapOf(page);
    if (!bitmap) return false;
    for (size_t chunk = 0; chunk < bitmap->chunks(); ++chunk) {
      const size_t bytes = ChunkBytes(page_bytes_, bitmap->chunks());
      const ChunkState state = bitmap->StateOf(chunk);
      if (state != ChunkState::kComplete && state != ChunkState::kBeingWritten) continue;
      const size_t offset = ChunkOffset({page, chunk}, bytes);
      std::array<uint8_t, kChunkHeaderSize> header;
      if (!memory_.Read(offset, header)) return false;
      const FoundChunk seen{{page, chunk},
                            state == ChunkState::kComplete,
                            *ParseChunkHeader(header),
                            out.size(),
                            bytes};
      if (!take(seen)) continue;

      const std::span<uint8_t> copy = Grow(out, bytes);
      const bool is_read = memory_.Read(offset, copy);
      const auto now = is_read ? BitmapOf(page) : std::nullopt;
      // A chunk that was freed and taken again meanwhile is another one.
      const ChunkHeader after = *ParseChunkHeader(copy);
      const bool is_same =
          now && now->chunks() == bitmap->chunks() && after.chunk == seen.header.chunk &&
          after.writer == seen.header.writer &&
          (now->StateOf(chunk) == ChunkState::kComplete || now->StateOf(chunk) == state);
      if (!is_same) {
        out.resize(seen.offset);
        if (!now) return false;
        continue;
      }
      std::memcpy(copy.data(), header.data(), header.size());
      found.push_back(seen);
    }
  }
  return true;
}

bool Pages::Look(MemoryPicture& picture) const {
  for (size_t page = 0; page < picture.pages().size(); ++page) {
    const auto bitmap = BitmapOf(page);
    if (!bitmap) return false;
    picture.SetBits(page, bitmap->bits());
    for (size_t chunk = 0; chunk < bitmap->chunks(); ++chunk) {
      if (!bitmap->HasHeader(chunk)) continue;
      std::array<uint8_t, kChunkHeaderSize> bytes;
      if (!memory_.Read(ChunkOffset({page, chunk}, ChunkBytes(page_bytes_, bitmap->chunks())),
                        bytes))
        return false;
      const ChunkHeader header = *ParseChunkHeader(bytes);
      picture.SetHolder(page, chunk, {header.writer, header.chunk});
    }
  }
  return true;
}

uint64_t Pages::ChunksIfFull() const {
  uint64_t chunks = 0;
  for (uint64_t page = 0; page < count(); ++page) {
    const auto bitmap = BitmapOf(page);
    if (!bitmap || bitmap->bits() == 0) return 0;  // not divided: a writer may divide it
    for (size_t chunk = 0; chunk < bitmap->chunks(); ++chunk)
      if (bitmap->StateOf(chunk) == ChunkState::kFree) return 0;
    chunks += bitmap->chunks();
  }
  return chunks;
}

}  // namespace ringscope::smb
