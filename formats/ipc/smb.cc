#include "formats/ipc/smb.h"

#include <array>
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

bool Pages::ReadBitmap(uint64_t page, PageBitmap& bitmap) const {
  std::array<uint8_t, sizeof(uint32_t)> bytes;
  if (!memory_.Read(static_cast<size_t>(page) * page_bytes_, bytes)) return false;
  bitmap = PageBitmap(wire::LoadLittleEndian<uint32_t>(bytes.data()));
  return true;
}

bool Pages::AppendComplete(ChunkPlace place, std::string& out) const {
  PageBitmap bitmap(0);
  if (place.page >= count() || !ReadBitmap(place.page, bitmap) || place.chunk >= bitmap.chunks() ||
      bitmap.StateOf(static_cast<size_t>(place.chunk)) != ChunkState::kComplete)
    return false;
  const size_t bytes = ChunkBytes(page_bytes_, bitmap.chunks());
  const size_t before = out.size();
  if (memory_.Read(ChunkOffset(place, bytes), Grow(out, bytes))) return true;
  out.resize(before);
  return false;
}

bool Pages::Scan(const Take& take, std::vector<FoundChunk>& found, std::string& out) const {
  const uint64_t pages = count();
  for (uint64_t page = 0; page < pages; ++page) {
    PageBitmap bitmap(0);
    if (!ReadBitmap(page, bitmap)) return false;
    for (size_t chunk = 0; chunk < bitmap.chunks(); ++chunk)
      if (!ScanChunk({page, chunk}, bitmap, take, found, out)) return false;
  }
  return true;
}

bool Pages::Look(MemoryPicture& picture) const {
  for (size_t page = 0; page < picture.pages().size(); ++page) {
    PageBitmap bitmap(0);
    if (!ReadBitmap(page, bitmap)) return false;
    picture.SetBits(page, bitmap.bits());
    for (size_t chunk = 0; chunk < bitmap.chunks(); ++chunk) {
      if (!bitmap.HasHeader(chunk)) continue;
      std::array<uint8_t, kChunkHeaderSize> bytes;
      if (!memory_.Read(ChunkOffset({page, chunk}, ChunkBytes(page_bytes_, bitmap.chunks())),
                        bytes))
        return false;
      const ChunkHeader header = *ParseChunkHeader(bytes);
      picture.SetHolder(page, chunk, {header.writer, header.chunk});
    }
  }
  return true;
}

bool Pages::ScanChunk(ChunkPlace place, PageBitmap bitmap, const Take& take,
                      std::vector<FoundChunk>& all, std::string& out) const {
  const auto chunk = static_cast<size_t>(place.chunk);
  const ChunkState state = bitmap.StateOf(chunk);
  if (state != ChunkState::kComplete && state != ChunkState::kBeingWritten) return true;
  const size_t bytes = ChunkBytes(page_bytes_, bitmap.chunks());
  const size_t offset = ChunkOffset(place, bytes);
  std::array<uint8_t, kChunkHeaderSize> header;
  if (!memory_.Read(offset, header)) return false;
  const FoundChunk found{place, state == ChunkState::kComplete, *ParseChunkHeader(header),
                         out.size(), bytes};
  if (!take(found)) return true;

  const size_t before = out.size();
  const std::span<uint8_t> copy = Grow(out, bytes);
  PageBitmap now(0);
  if (!memory_.Read(offset, copy) || !ReadBitmap(place.page, now)) {
    out.resize(before);
    return false;
  }
  // A chunk that was freed and taken again meanwhile is another one.
  const ChunkHeader after = *ParseChunkHeader(copy);
  const bool same = now.chunks() == bitmap.chunks() && after.chunk == found.header.chunk &&
                    after.writer == found.header.writer &&
                    (now.StateOf(chunk) == ChunkState::kComplete || now.StateOf(chunk) == state);
  if (!same) {
    out.resize(before);
    return true;
  }
  std::memcpy(copy.data(), header.data(), header.size());
  all.push_back(found);
  return true;
}

}  // namespace ringscope::smb
