#ifndef RINGSCOPE_CORE_PERFETTO_COMMIT_REQUEST_H_
#define RINGSCOPE_CORE_PERFETTO_COMMIT_REQUEST_H_

#include <vector>

#include "core/base/wire.h"
#include "core/perfetto/chunk.h"

namespace ringscope {

// A producer's CommitDataRequest: views that read a request's own bytes, and a builder of new ones.
// Source: Perfetto's producer protocol.

inline constexpr size_t kChunkHeaderSize = 8;
inline constexpr size_t kMaxChunkData = 65535;  // header and payload
inline constexpr size_t kMaxChunkPayload = kMaxChunkData - kChunkHeaderSize;
inline constexpr uint16_t kMaxFragmentCount = 1023;
inline constexpr uint8_t kMaxChunkFlags = 63;

/// The 8-byte header that starts each chunk in shared memory.
struct ChunkHeader {
  ChunkId chunk{};
  WriterId writer{};
  uint16_t fragments = 0;  // 0..1023
  uint8_t flags = 0;       // 0..63

  friend bool operator==(const ChunkHeader&, const ChunkHeader&) = default;
};

/// nullopt if `data` has fewer than 8 bytes.
std::optional<ChunkHeader> ParseChunkHeader(Bytes data);
void AppendChunkHeader(std::string& out, const ChunkHeader& header);

/// An entry of chunks_to_move. Absent fields are nullopt; unknown ones are skipped.
struct ChunkToMove {
  std::optional<uint64_t> page = {};
  std::optional<uint64_t> index = {};
  std::optional<uint64_t> target_buffer = {};
  std::optional<Bytes> data = {};  // chunk header and payload
  bool incomplete = false;         // chunk_incomplete: scraped while the writer still had it

  /// Returns nullopt if the data is absent or has fewer than 8 bytes.
  std::optional<ChunkHeader> header() const {
    return data ? ParseChunkHeader(*data) : std::nullopt;
  }
};

/// The service cuts the buffer id of a chunk or patch to 16 bits; an absent one is 0.
constexpr BufferId TargetBufferOf(std::optional<uint64_t> id) {
  return BufferId{static_cast<uint16_t>(id.value_or(0))};
}

/// One patch: four bytes to overwrite in a payload. `data` of another length is malformed.
struct PatchSpan {
  uint64_t offset = 0;  // from the payload's first byte
  Bytes data;
};

/// An entry of chunks_to_patch.
struct ChunkToPatch {
  std::optional<uint64_t> target_buffer = {};
  std::optional<uint64_t> writer = {};
  std::optional<uint64_t> chunk = {};
  std::vector<PatchSpan> patches = {};
  bool more = false;  // has_more_patches

  /// The chunk to patch. The service cuts ids to their size; absent ones are 0.
  ChunkName NameFor(ProducerId producer) const {
    return {{producer, WriterId{static_cast<uint16_t>(writer.value_or(0))}},
            IdOf(chunk.value_or(0))};
  }
};

/// The chunk of an entry on its way into a buffer, without what only the service knows: identity
/// and machine.
/// @return nullopt if the data cannot be a chunk: it is absent, or not of 8..65'535 bytes
std::optional<ChunkCommit> ToChunkCommit(ProducerId producer, const ChunkToMove& chunk);
/// The well-formed patches of an entry on their way into a buffer, with the request's offsets,
/// which the service cuts to 32 bits.
/// @param storage is overwritten; what is returned refers to it
ChunkPatches ToChunkPatches(ProducerId producer, const ChunkToPatch& patch,
                            std::vector<Patch>& storage);

/// Reads a request's chunks, patches and flush id. Reuse one parser: its vectors keep their memory.
class CommitRequestParser {
 public:
  /// @return false if `request` is not well-formed protobuf; what came before the malformed byte
  ///   is available all the same. All spans point into `request`.
  bool Parse(Bytes request);

  const std::vector<ChunkToMove>& chunks() const { return chunks_; }
  /// In order; valid until the next Parse.
  std::span<const ChunkToPatch> patches() const { return {patches_.data(), patch_count_}; }
  std::optional<uint64_t> flush_request_id() const { return flush_request_id_; }

 private:
  std::vector<ChunkToMove> chunks_;
  std::vector<ChunkToPatch> patches_;  // only the first patch_count_ are of this request
  size_t patch_count_ = 0;
  std::optional<uint64_t> flush_request_id_;
};

/// Appends to an encoded CommitDataRequest, in the canonical form: known fields only, ascending.
class CommitRequestBuilder {
 public:
  explicit CommitRequestBuilder(std::string& out) : out_(out) {}

  void AddChunk(const ChunkToMove& chunk);
  /// The usual entry of a log: the chunk's bytes inline.
  void AddChunk(BufferId buffer, const ChunkHeader& header, Bytes payload, bool complete);
  void AddPatch(const ChunkToPatch& patch);
  void SetFlushRequestId(uint64_t id);

 private:
  std::string& out_;
  std::string scratch_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PERFETTO_COMMIT_REQUEST_H_
