#ifndef RINGSCOPE_CORE_ENGINE_V1_STORE_H_
#define RINGSCOPE_CORE_ENGINE_V1_STORE_H_

#include <cstdint>
#include <cstring>
#include <utility>

#include "core/base/wire.h"
#include "core/engine/zeroed_storage.h"
#include "core/perfetto/commit_request.h"
#include "core/perfetto/fragment.h"

namespace ringscope::v1 {

/// What the index knows of a chunk in the buffer.
struct Chunk {
  uint64_t offset = 0;         // of its record in the buffer
  Identity identity;           // of the commit that brought it
  uint32_t id = 0;             // the chunk id as a plain number
  uint32_t sequence = 0;       // its slot
  uint32_t record_size = 0;    // header and alignment included
  uint32_t next_fragment = 0;  // offset in the payload
  uint16_t fragments = 0;
  uint16_t fragments_read = 0;
  uint8_t flags = 0;
  bool complete = true;
  bool skipped_last = false;  // the last read of it gave no packet

  uint32_t payload_size() const { return record_size - kStoredHeaderSize; }  // with alignment bytes
  bool first_continues() const { return (flags & kFirstContinues) != 0; }
  bool last_continues() const { return (flags & kLastContinues) != 0; }
};

/// Names a chunk as long as it is in the buffer.
using ChunkSlot = uint32_t;

/// V1 reads at most so many bytes of a fragment's size.
inline constexpr size_t kMaxVarintV1 = 4;

/// Where V1 keeps its chunks' payloads.
class PayloadStore {
 public:
  explicit PayloadStore(ZeroedStorage storage) : storage_(std::move(storage)) {}

  static uint32_t PayloadSize(const ChunkCommit& commit) {
    return static_cast<uint32_t>(commit.payload.size());
  }
  /// Takes the commit's payload as the chunk's.
  void Write(const Chunk& chunk, const ChunkCommit& commit) {
    uint8_t* const to = storage_.get() + chunk.offset + kStoredHeaderSize;
    const size_t bytes = commit.payload.size();
    if (bytes > 0) std::memcpy(to, commit.payload.data(), bytes);
    std::memset(to + bytes, 0, chunk.record_size - kStoredHeaderSize - bytes);
  }
  /// The chunk's next fragment.
  FragmentStatus Read(const Chunk& chunk, Fragment& out) const {
    const uint32_t size = chunk.payload_size();
    const uint32_t at = chunk.next_fragment;
    if (at >= size) return FragmentStatus::kNone;
    const wire::Varint varint = ReadFragmentSize(At(chunk) + at, size - at, kMaxVarintV1);
    if (varint.size == 0) return FragmentStatus::kCorrupted;
    const uint32_t body = at + static_cast<uint32_t>(varint.size);
    if (varint.value > size - body)
      return varint.value == kWriterDropSize ? FragmentStatus::kWriterDrop
                                             : FragmentStatus::kCorrupted;
    out = {.offset = at, .body = body, .end = body + static_cast<uint32_t>(varint.value)};
    return FragmentStatus::kFragment;
  }
  /// The patch is within the payload.
  void Apply(const Chunk& chunk, const Patch& patch) {
    std::memcpy(storage_.get() + chunk.offset + kStoredHeaderSize + patch.offset, patch.data,
                kPatchSize);
  }
  void Prefetch(const Chunk& chunk) const {
    PrefetchPayload(At(chunk), chunk.fragments > 1 ? chunk.payload_size() : 1);
  }
  Bytes Slice(const Chunk& chunk, const Fragment& fragment) const {
    return {At(chunk) + fragment.body, fragment.size()};
  }
  Bytes Payload(const Chunk& chunk) const { return {At(chunk), chunk.payload_size()}; }
  const uint8_t* bytes() const { return storage_.get(); }

 private:
  const uint8_t* At(const Chunk& chunk) const {
    return storage_.get() + chunk.offset + kStoredHeaderSize;
  }

  ZeroedStorage storage_;
};

}  // namespace ringscope::v1

#endif  // RINGSCOPE_CORE_ENGINE_V1_STORE_H_
