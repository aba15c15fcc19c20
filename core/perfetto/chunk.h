#ifndef RINGSCOPE_CORE_PERFETTO_CHUNK_H_
#define RINGSCOPE_CORE_PERFETTO_CHUNK_H_

#include <cstddef>
#include <cstdint>
#include <span>

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

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_CHUNK_H_
