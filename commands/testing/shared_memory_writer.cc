#include <algorithm>
#include <cstring>
#include <utility>

#include "commands/testing/producer.h"
#include "core/perfetto/chunk.h"
#include "core/perfetto/fields.h"

namespace ringscope::testing {
namespace {

constexpr size_t kWideSize = 4;     // bytes of a fragment's size
constexpr size_t kLeastSpace = 12;  // where a packet may begin
constexpr size_t kPatchBytes = 4;
constexpr uint16_t kMostFragments = 1022;
/// In place of a fragment's size: its packet is lost, the writer got no further chunk.
constexpr uint8_t kLostPacket[kWideSize] = {0xFF, 0xFF, 0xFF, 0x7F};
/// What a producer writes into the packet after those that it lost: present, shared memory full.
constexpr uint64_t kLostInSharedMemory = 257;

void StoreWideSize(uint8_t* at, size_t size) {
  for (size_t i = 0; i < kWideSize; ++i, size >>= 7)
    at[i] = static_cast<uint8_t>((size & 0x7F) | (i + 1 < kWideSize ? 0x80 : 0));
}

}  // namespace

void SharedMemoryWriter::Open(smb::ChunkPlace place, bool continues) {
  chunk_ = OpenChunk{.place = place,
                     .bytes = producer_.memory_->chunk(place, 1),
                     .id = next_,
                     .used = kChunkHeaderSize,
                     .flags = continues ? kFirstContinues : uint8_t{0}};
  next_ = Successor(next_);
  std::ranges::fill(chunk_->bytes, uint8_t{0});
  StoreHeader();
}

void SharedMemoryWriter::StoreHeader() {
  constexpr size_t kCountOffset = 6;
  std::string header;
  AppendChunkHeader(header, {chunk_->id, id_, chunk_->fragments, chunk_->flags});
  std::memcpy(chunk_->bytes.data(), header.data(), kCountOffset);
  // Who scrapes the chunk relies on this count: it is stored after the fragments.
  uint16_t count = 0;
  std::memcpy(&count, header.data() + kCountOffset, sizeof(count));
  std::atomic_ref<uint16_t>(*reinterpret_cast<uint16_t*>(chunk_->bytes.data() + kCountOffset))
      .store(count, std::memory_order_release);
}

Status SharedMemoryWriter::Close() {
  StoreHeader();
  const OpenChunk closed = *std::exchange(chunk_, std::nullopt);
  return producer_.ReturnChunk(closed.place, buffer_);
}

Status SharedMemoryWriter::Finish() { return chunk_ && chunk_->fragments > 0 ? Close() : Status{}; }

Bytes SharedMemoryWriter::AddFragment(Bytes packet, bool is_first) {
  const size_t size = std::min(packet.size(), Space() - kWideSize);
  uint8_t* const at = chunk_->bytes.data() + chunk_->used;
  if (is_first && size == packet.size() && size < 0x7F) {
    at[0] = static_cast<uint8_t>(size);
    std::memcpy(at + 1, packet.data(), size);
    chunk_->used += 1 + size;
  } else {
    StoreWideSize(at, size);
    std::memcpy(at + kWideSize, packet.data(), size);
    chunk_->used += kWideSize + size;
  }
  const Bytes rest = packet.subspan(size);
  if (!rest.empty()) chunk_->flags |= kLastContinues;
  ++chunk_->fragments;
  return rest;
}

ChunkToPatch SharedMemoryWriter::LeaveToPatch(size_t begin, size_t offset, Bytes data) {
  const size_t at = begin + kWideSize + offset;
  std::memset(chunk_->bytes.data() + at, 0, kPatchBytes);
  chunk_->flags |= kNeedsPatching;
  return {.target_buffer = Raw(buffer_),
          .writer = Raw(id_),
          .chunk = Raw(chunk_->id),
          .patches = {{.offset = at - kChunkHeaderSize, .data = data}},
          .more = false};
}

Result<bool> SharedMemoryWriter::WriteFragments(Bytes packet, std::optional<size_t> patched) {
  if (chunk_ && (Space() < kLeastSpace || chunk_->fragments >= kMostFragments))
    RS_RETURN_IF_ERROR(Close());
  if (!chunk_) {
    RS_ASSIGN_OR_RETURN(const auto place, producer_.TakeChunk());
    if (!place) return false;
    Open(*place, /*continues=*/false);
  }
  std::optional<ChunkToPatch> patch;
  size_t begin = chunk_->used;
  Bytes rest = AddFragment(packet, /*is_first=*/true);
  const size_t in_first = packet.size() - rest.size();
  if (!rest.empty() && patched && *patched + kPatchBytes <= in_first)
    patch = LeaveToPatch(begin, *patched, packet.subspan(*patched, kPatchBytes));
  while (!rest.empty()) {
    RS_ASSIGN_OR_RETURN(const auto place, producer_.TakeChunk());
    if (!place) {
      std::memcpy(chunk_->bytes.data() + begin, kLostPacket, kWideSize);
      chunk_->flags &= static_cast<uint8_t>(~(kLastContinues | kNeedsPatching));
      RS_RETURN_IF_ERROR(Close());
      if (patch) RS_RETURN_IF_ERROR(producer_.AddPatch(*patch));
      return false;
    }
    RS_RETURN_IF_ERROR(Close());
    Open(*place, /*continues=*/true);
    begin = chunk_->used;
    rest = AddFragment(rest, /*is_first=*/false);
  }
  StoreHeader();
  if (patch) RS_RETURN_IF_ERROR(producer_.AddPatch(*patch));
  if (Space() < kLeastSpace) RS_RETURN_IF_ERROR(Close());
  return true;
}

Result<bool> SharedMemoryWriter::Write(Bytes packet, std::optional<size_t> patched) {
  std::string noted;
  if (lost_before_) {
    wire::AppendUint(noted, proto::TracePacket::kPreviousPacketDropped, kLostInSharedMemory);
    if (patched) *patched += noted.size();
    noted += wire::AsText(packet);
    packet = wire::AsBytes(noted);
  }
  RS_ASSIGN_OR_RETURN(const bool written, WriteFragments(packet, patched));
  lost_before_ = !written;
  if (!written) ++dropped_;
  return written;
}

}  // namespace ringscope::testing
