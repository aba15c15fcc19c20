#ifndef RINGSCOPE_CORE_SESSION_BUFFER_EVENT_H_
#define RINGSCOPE_CORE_SESSION_BUFFER_EVENT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/enum_names.h"
#include "core/base/ids.h"
#include "core/base/log_moment.h"
#include "core/engine/engine.h"

namespace ringscope {

/// "7:3#120": sequence 7:3, chunk 120.
std::string ToString(ChunkName name);

/// When something happened to a buffer: the moment of the log, and what had been written to the
/// buffer by then, the event itself included.
struct BufferMoment : LogMoment {
  uint64_t written_bytes = 0;  // of all chunks at the write cursor, headers and alignment included
};

/// Why a chunk left its buffer.
enum class Erasure : uint8_t {
  kConsumed,     // all of it was read, or abandoned, by a read pass
  kOverwritten,  // its space was needed for the commit `by`
  kCleared,      // it was consumed on the way to the chunk `with`, whose space was needed for `by`
  kMoved,        // it is re-committed at the write cursor
  kTransferred,  // with all others: a clone took the buffer over
  kDropped,      // with all others: the buffer was cleared for a clone
};

/// One thing that happened inside a buffer.
struct BufferEvent {
  enum class Kind : uint8_t {
    kCommitted,
    kRewritten,
    kRelocated,
    kDiscarded,
    kEvicting,
    kErased,
    kPatched,
    kPatchMissed,
    kReturned,
    kGivenUp,
    kLossBit,
    kWrap,
    kPadding,
    kStalled,
    kFolded,
  };

  BufferEvent() = default;
  // Member by member: a copy of a blank event would cost more than all the rest.
  BufferEvent(Kind its_kind, const BufferMoment& moment, BufferId its_buffer, ChunkName its_chunk)
      : kind(its_kind), at(moment), buffer(its_buffer), chunk(its_chunk) {}

  Kind kind = Kind::kCommitted;
  BufferMoment at;
  BufferId buffer{};
  ChunkName chunk;             // for kReturned, kGivenUp, kFolded: where the packet begins
  uint64_t offset = 0;         // bytes, of the chunk (or the padding) in the buffer
  uint32_t outer_size = 0;     // bytes occupied; for kPadding its size
  uint32_t payload_size = 0;   // bytes of valid fragments
  uint32_t payload_avail = 0;  // of these, not consumed
  uint8_t flags = 0;           // of the shared-memory ABI
  bool incomplete = false;
  bool moved = false;             // kCommitted: from another place in the buffer
  Erasure erasure{};              // kErased
  std::optional<ChunkName> by;    // kEvicting, kErased, kFolded: the commit that needs the space
  std::optional<ChunkName> with;  // kErased, kCleared: the chunk whose space is needed
  DiscardReason discard{};        // kDiscarded
  PatchMiss miss{};               // kPatchMissed
  StallReason stall{};            // kStalled
  uint32_t loss_bits = 0;  // kLossBit, kGivenUp: the cause; kReturned: what the packet carries
  uint32_t patches = 0;    // kPatched, kPatchMissed: how many were sent
  // kReturned, kGivenUp, kFolded:
  uint32_t first_offset = 0;  // of the packet in its first chunk's payload
  ChunkId last_chunk{};       // where the packet ends, as far as known
  uint64_t packet_size = 0;   // bytes; not of kGivenUp
  // Valid during the call only:
  Bytes payload;  // of a chunk in the buffer, as stored; kFolded: of the packet, its first slice
  const ChunkPatches* sent = nullptr;  // kPatched, kPatchMissed
};

/// Why a chunk was discarded: "the buffer is full".
const char* InWords(DiscardReason reason);
/// The event in words, without record and time: "1:4#17 evicted unread for 2:1#90 (4,096 bytes)".
std::string Describe(const BufferEvent& event);
/// Says what a sequence waits for: "the chunk after 7:3#120". @param chunk at which it stalls
std::string WaitsFor(StallReason reason, const std::string& chunk);
template <>
inline constexpr std::array kEnumNames<BufferEvent::Kind> = {
    "committed", "rewritten", "relocated",    "discarded", "evicted",
    "erased",    "patched",   "patch_missed", "returned",  "abandoned",
    "loss_bit",  "wrap",      "padding",      "stalled",   "folded"};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_BUFFER_EVENT_H_
