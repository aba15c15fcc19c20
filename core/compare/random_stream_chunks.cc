// What writers of a random stream put into their chunks.

#include <algorithm>
#include <cstring>

#include "core/base/wire.h"
#include "core/compare/random_stream.h"

namespace ringscope {
namespace {

/// Fragments of these bytes need two bytes for their size; for space, all count as if.
constexpr uint32_t kSizeBytes = 2;

}  // namespace

/// Adds bytes that differ from packet to packet: the packet's number, again and again, each time
/// with other bits changed.
void RandomStream::AppendContent(std::string& to, uint32_t size) {
  const uint32_t number = ++packets_;
  const char lowest_first[] = {static_cast<char>(number), static_cast<char>(number >> 8),
                               static_cast<char>(number >> 16), static_cast<char>(number >> 24)};
  uint32_t word = 0;
  std::memcpy(&word, lowest_first, sizeof(word));
  const size_t begin = to.size();
  to.resize(begin + size);
  char* const bytes = to.data() + begin;
  uint32_t i = 0;
  const auto changed = [&] { return word ^ (i / 4 * 37 & 0xFF) * 0x01010101u; };
  for (; i + sizeof(word) <= size; i += sizeof(word)) {
    const uint32_t four = changed();
    std::memcpy(bytes + i, &four, sizeof(four));
  }
  const uint32_t four = changed();
  std::memcpy(bytes + i, &four, size - i);
}

void RandomStream::NoteWritten(const Writer& writer, std::pair<uint32_t, uint32_t> place,
                               ChunkId last_chunk, std::string content) {
  if (keeps_written_) written_[writer.key].packets[place] = {last_chunk, std::move(content)};
}

/// @param may_begin whether a packet may be begun that continues after this chunk
RandomStream::BuiltChunk RandomStream::Build(Writer& writer, bool may_begin) {
  BuiltChunk chunk;
  chunk.payload.reserve(512);
  chunk.ends.reserve(8);
  chunk.id = writer.next_chunk;
  writer.next_chunk = Successor(chunk.id);
  uint32_t space = traits_.chunk_size > 0 ? traits_.chunk_size
                   : traits_.tiny_chunks  ? 10 + Below(20)
                                          : 32 + Below(OneIn(10) ? 5000 : 600);
  const bool aborts = traits_.aborts && OneIn(12);
  const auto abort = [&chunk] {
    chunk.payload += kAbortMarker;
    chunk.ends.push_back(static_cast<uint32_t>(chunk.payload.size()));
  };
  if (writer.in_packet) {
    chunk.flags |= kFirstContinues;
    if (aborts && OneIn(2)) {  // in the middle of the packet
      writer.in_packet = false;
      abort();
      return chunk;
    }
    if (AddPart(writer, chunk, space)) return chunk;
    space -= std::min(space, static_cast<uint32_t>(chunk.payload.size()));
  }
  for (uint32_t n = Below(6); n > 0 && space > 8; --n)
    space -= AddWhole(writer, chunk, OneIn(8) ? 0 : std::min(Below(150), space - kSizeBytes));
  if (traits_.chunk_size == kEvenChunk && space > 8 && OneIn(2))  // to the last byte
    space -= AddWhole(writer, chunk, space - (space <= 128 ? 1 : kSizeBytes));
  if (aborts && space >= kAbortMarker.size()) {
    abort();
  } else if (may_begin && space > 8 && OneIn(3)) {
    writer.in_packet = true;
    writer.is_broken = false;
    writer.place = {Distance(writer.first_chunk, chunk.id),
                    static_cast<uint32_t>(chunk.payload.size())};
    writer.content.clear();
    AppendContent(writer.content, 1 + Below(OneIn(6) ? 9000 : 500));
    writer.written = 0;
    AddPart(writer, chunk, space);
  }
  return chunk;
}

/// Adds a packet of this size. @return bytes that it takes
uint32_t RandomStream::AddWhole(Writer& writer, BuiltChunk& chunk, uint32_t size) {
  const auto offset = static_cast<uint32_t>(chunk.payload.size());
  wire::AppendVarint(chunk.payload, size);
  const size_t body = chunk.payload.size();
  AppendContent(chunk.payload, size);
  chunk.ends.push_back(static_cast<uint32_t>(chunk.payload.size()));
  if (size > 0 && keeps_written_) {
    NoteWritten(writer, {Distance(writer.first_chunk, chunk.id), offset}, chunk.id,
                chunk.payload.substr(body));
  }
  return chunk.ends.back() - offset;
}

/// Adds the next fragment of the packet that the writer is in. @return whether it continues after
bool RandomStream::AddPart(Writer& writer, BuiltChunk& chunk, uint32_t space) {
  const size_t left = writer.content.size() - writer.written;
  const bool begins = writer.written == 0 && (chunk.flags & kFirstContinues) == 0;
  uint32_t size = space - kSizeBytes - 1;
  const bool fills = begins || left > size || OneIn(5);
  if (fills && OneIn(3)) size = Below(size + 1);  // a chunk that is handed over early
  size = static_cast<uint32_t>(std::min<size_t>(size, left));
  const bool continues = begins || size < left;
  const std::string_view part = std::string_view(writer.content).substr(writer.written, size);
  writer.written += size;
  wire::AppendVarint(chunk.payload, size);
  chunk.payload += part;
  chunk.ends.push_back(static_cast<uint32_t>(chunk.payload.size()));
  if (continues) {
    chunk.flags |= kLastContinues;
    if (traits_.patches && OneIn(2)) AddPatches(writer, chunk, size);
    return true;
  }
  writer.in_packet = false;
  if (!writer.is_broken) NoteWritten(writer, writer.place, chunk.id, std::move(writer.content));
  return false;
}

/// Takes up to two times four bytes out of the chunk's last fragment: they come as patches.
void RandomStream::AddPatches(Writer& writer, BuiltChunk& chunk, uint32_t part_size) {
  chunk.flags |= kNeedsPatching;
  DuePatch due;
  due.chunk = chunk.id;
  const size_t start = chunk.payload.size() - part_size;
  for (uint32_t n = 0; n < 1 + Below(2) && part_size >= 8; ++n) {
    const size_t offset = start + n * 4 + Below(part_size / 2 - 3) / 2;
    if (!due.patches.empty() && offset < due.patches.back().first + kPatchSize) break;
    due.patches.emplace_back(offset, chunk.payload.substr(offset, kPatchSize));
  }
  for (const auto& [offset, bytes] : due.patches)
    chunk.payload.replace(offset, kPatchSize, 4, '\0');
  writer.due.push_back(std::move(due));
}

/// The chunk is never committed, so no packet with a fragment in it is complete.
void RandomStream::Lose(Writer& writer, const BuiltChunk& chunk) {
  if (keeps_written_) {
    const uint32_t steps = Distance(writer.first_chunk, chunk.id);
    std::erase_if(written_[writer.key].packets, [&](const auto& entry) {
      return entry.first.first <= steps &&
             steps <= Distance(writer.first_chunk, entry.second.last_chunk);
    });
  }
  if (writer.in_packet) writer.is_broken = true;
}

}  // namespace ringscope
