#ifndef RINGSCOPE_CORE_ENGINE_CHUNK_RING_H_
#define RINGSCOPE_CORE_ENGINE_CHUNK_RING_H_

#include <cstdint>

#include "core/base/gap_list.h"
#include "core/base/ids.h"
#include "core/base/ring.h"
#include "core/perfetto/chunk.h"

namespace ringscope {

/// Stored with a chunk beside the shared-memory ABI's flags: the writer may still have it.
inline constexpr uint8_t kIncompleteChunk = 0x80;

/// What is known of a chunk in the buffer. The buffer's bytes hold only payloads; this is kept
/// beside them, so that walking over chunks does not touch cold memory.
struct StoredChunk {
  static constexpr uint32_t kPadding = UINT32_MAX;

  uint32_t offset_16 = 0;  // in the buffer, in units of 16 bytes
  ChunkId id{};
  uint32_t sequence = kPadding;  // its slot
  uint16_t size = 0;             // payload bytes reserved, fixed for life
  uint16_t payload_size = 0;     // bytes of valid fragments
  uint16_t payload_avail = 0;    // of these, not consumed
  uint8_t flags = 0;
  bool all_whole = false;  // known to hold whole packets only, at least one not empty

  uint64_t offset() const { return uint64_t{offset_16} * 16; }
  uint32_t outer_size() const { return OuterSize(size); }
  uint64_t end() const { return offset() + outer_size(); }
  uint32_t unread_offset() const { return uint32_t{payload_size} - payload_avail; }
  bool is_padding() const { return sequence == kPadding; }
  bool is_incomplete() const { return (flags & kIncompleteChunk) != 0; }
};
static_assert(sizeof(StoredChunk) == 20);

/// Names a chunk for as long as it is in the buffer; wraps.
using ChunkRef = RingRef;

/// The chunks of a buffer in buffer order, beginning at the write cursor: what it will overwrite
/// next comes first, what was written last comes last.
using ChunkRing = Ring<StoredChunk>;

/// A sequence's chunks, ordered by chunk id.
using ChunkList = GapList<ChunkRef>;

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_ENGINE_CHUNK_RING_H_
