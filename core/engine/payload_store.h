#ifndef RINGSCOPE_CORE_ENGINE_PAYLOAD_STORE_H_
#define RINGSCOPE_CORE_ENGINE_PAYLOAD_STORE_H_

#include <cstring>
#include <utility>

#include "core/engine/chunk_ring.h"
#include "core/engine/zeroed_storage.h"
#include "core/perfetto/fragment.h"

namespace ringscope::v2 {

/// Where a buffer keeps its chunks' payloads.
class PayloadStore {
 public:
  explicit PayloadStore(ZeroedStorage storage) : storage_(std::move(storage)) {}

  static uint32_t PayloadSize(const ChunkCommit& commit) {
    return static_cast<uint32_t>(commit.payload.size());
  }
  /// Takes the first `bytes` of the commit's payload as the chunk's.
  void Write(const StoredChunk& chunk, const ChunkCommit& commit, uint32_t bytes) {
    if (bytes > 0) std::memcpy(At(chunk), commit.payload.data(), bytes);
  }
  /// GCC would inline it or not by how much else there is in the same unit.
  [[gnu::always_inline]] FragmentStatus Read(const StoredChunk& chunk, uint32_t offset,
                                             Fragment& fragment) {
    return ReadFragment(At(chunk), chunk.payload_size, offset, fragment);
  }
  /// The chunk will be read soon: all of it, if it has whole packets alone; of other chunks, the
  /// first fragment.
  [[gnu::always_inline]] void Prefetch(const StoredChunk& chunk) const {
    if (!chunk.is_padding()) PrefetchPayload(At(chunk), chunk.all_whole ? chunk.payload_size : 1);
  }
  [[gnu::always_inline]] void PrefetchStart(const StoredChunk& chunk) const {
    PrefetchPayload(At(chunk), 1);
  }
  /// The patch is within the payload.
  void Apply(const StoredChunk& chunk, const Patch& patch) {
    std::memcpy(At(chunk) + patch.offset, patch.data, kPatchSize);
  }
  Bytes Slice(const StoredChunk& chunk, const Fragment& fragment) const {
    return {At(chunk) + fragment.body, fragment.size()};
  }
  Bytes Payload(const StoredChunk& chunk) const { return {At(chunk), chunk.payload_size}; }
  const uint8_t* bytes() const { return storage_.get(); }

 private:
  const uint8_t* At(const StoredChunk& chunk) const {
    return storage_.get() + chunk.offset() + kStoredHeaderSize;
  }
  uint8_t* At(const StoredChunk& chunk) {
    return storage_.get() + chunk.offset() + kStoredHeaderSize;
  }

  ZeroedStorage storage_;
};

}  // namespace ringscope::v2

#endif  // RINGSCOPE_CORE_ENGINE_PAYLOAD_STORE_H_
