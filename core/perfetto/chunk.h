#ifndef RINGSCOPE_CORE_PERFETTO_CHUNK_H_
#define RINGSCOPE_CORE_PERFETTO_CHUNK_H_

#include "core/base/enum_names.h"
#include "core/base/ids.h"

namespace ringscope {

/// Bytes of a page: buffers that are sized here are whole numbers of them.
inline constexpr uint64_t kPageBytes = 4096;

constexpr uint64_t PagesDown(uint64_t bytes) { return bytes / kPageBytes * kPageBytes; }
/// @param bytes at most UINT64_MAX - kPageBytes
constexpr uint64_t PagesUp(uint64_t bytes) { return PagesDown(bytes + kPageBytes - 1); }

/// The three flags that the shared-memory ABI defines for a chunk; the header has space for six.
inline constexpr uint8_t kFirstContinues = 1;
inline constexpr uint8_t kLastContinues = 2;
inline constexpr uint8_t kNeedsPatching = 4;
struct FlagName {
  uint8_t flag;
  const char* name;
};
inline constexpr FlagName kFlagNames[] = {{kFirstContinues, "continues from previous"},
                                          {kLastContinues, "continues on next"},
                                          {kNeedsPatching, "needs patching"}};
inline constexpr uint8_t kAbiFlags = kFirstContinues | kLastContinues | kNeedsPatching;

/// Bytes of the header that a buffer stores in front of a chunk's payload.
inline constexpr uint32_t kStoredHeaderSize = 16;

/// Bytes that a chunk occupies in a buffer, header and alignment included: a multiple of 16.
/// Source: Perfetto's TraceBufferV1 and V2.
constexpr uint32_t OuterSize(uint32_t payload) {
  return (kStoredHeaderSize + payload + 15) & ~uint32_t{15};
}

/// The part of a chunk that counts. The last fragment of a chunk that its writer still has may
/// grow: it is left out, and so are the flags that describe it.
struct FinishedPart {
  uint16_t fragments = 0;
  uint8_t flags = 0;  // of the shared-memory ABI
};
/// @param fragments, flags as the chunk header has them
/// @param complete false: scraped while the writer still had it
constexpr FinishedPart FinishedPartOf(uint16_t fragments, uint8_t flags, bool complete) {
  if (complete || fragments == 0) return {fragments, flags};
  return {static_cast<uint16_t>(fragments - 1),
          static_cast<uint8_t>(flags & ~(kLastContinues | kNeedsPatching))};
}

/// One chunk on its way into a buffer.
struct ChunkCommit {
  SequenceKey sequence;
  Identity identity;
  ChunkId chunk{};
  uint16_t fragments = 0;  // as the chunk header counts them
  uint8_t flags = 0;       // of the shared-memory ABI
  bool complete = true;    // false: scraped while the writer still had it
  Bytes payload;           // fragments, and whatever follows them in the chunk
  uint32_t machine = 0;    // machine_id of the producer; 0: the service's own machine
};

/// A four-byte patch. `data` always has kPatchSize bytes.
struct Patch {
  uint64_t offset = 0;  // from the payload's first byte
  const uint8_t* data = nullptr;
};
inline constexpr size_t kPatchSize = 4;

struct ChunkPatches {
  SequenceKey sequence;
  ChunkId chunk{};
  std::span<const Patch> patches;
  bool more = false;  // further patches for this chunk will follow
};

/// Policy of a full buffer: overwrite the oldest chunks, or discard the new ones.
enum class FillPolicy : uint8_t { kRingBuffer, kDiscard };

template <>
inline constexpr std::array kEnumNames<FillPolicy> = {"ring_buffer", "discard"};

/// The name of a policy in a trace config's text format.
constexpr const char* ConfigName(FillPolicy policy) {
  return policy == FillPolicy::kDiscard ? "DISCARD" : "RING_BUFFER";
}

/// Where in its sequence a packet is: what distinguishes packets, whatever their content.
struct PacketPlace {
  ChunkId first_chunk{};      // holds the packet's first fragment
  uint32_t first_offset = 0;  // of that fragment's size varint, from the payload's first byte
  ChunkId last_chunk{};       // holds its last fragment

  friend bool operator==(const PacketPlace&, const PacketPlace&) = default;
};

/// The place of a packet that an engine returned without reporting its place.
inline constexpr PacketPlace kUnknownPlace{
    .first_chunk = {}, .first_offset = UINT32_MAX, .last_chunk = {}};

/// A packet as a buffer returns it: slices of the buffer's own storage, valid until the next call
/// of the engine that returned it.
struct Packet {
  SequenceKey sequence;
  Identity identity;
  uint32_t dropped = 0;  // previous_packet_dropped: LossBit values, or 0 and 1
  std::span<const Bytes> slices;
  uint64_t size = 0;  // bytes, sum over the slices
  PacketPlace place;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_CHUNK_H_
