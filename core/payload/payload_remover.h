#ifndef RINGSCOPE_CORE_PAYLOAD_PAYLOAD_REMOVER_H_
#define RINGSCOPE_CORE_PAYLOAD_PAYLOAD_REMOVER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/log/op.h"
#include "core/payload/packet_mask.h"
#include "core/payload/patches_ahead.h"
#include "core/perfetto/commit_request.h"

namespace ringscope {

/// Makes a log without payloads of a log, record by record: what packets say becomes zeros (see
/// PacketMask), and all that buffers go by stays: sizes of chunks and fragments, flags, counts, the
/// places of patches and the sizes that they fill in. Every other record stays as it is, but for
/// the header, which states it.
///
/// What is kept is known to be a packet's structure: where sizes are missing in a chunk is known
/// from its patches, if these are all in its own request or are read ahead; else see PacketMask. If
/// a size that was assumed to be missing was there, the patch of the message after it is given its
/// place: that message and those before it become one, which ends where it ended.
///
/// What is not as writers of Perfetto write it is zeros rather than kept: patches that are no
/// sizes, unknown fields of requests, bytes that belong to no packet.
///
/// Memory: about 2 KiB per sequence whose packets go over several chunks.
class PayloadRemover {
 public:
  /// A header that states it.
  static LogHeader HeaderOf(LogHeader header);
  /// The record without payloads; valid until the next call. What follows it is not known.
  const Op& Apply(const Op& op);

  /// A request is one of those that follow; all that are read ahead are applied, in order.
  /// @return its chunks in which sizes are missing
  std::vector<ChunkName> ReadAhead(const Commit& commit) { return ahead_.Add(commit); }
  const PatchesAhead& patches_ahead() const { return ahead_; }
  /// As Apply, of a record that was read ahead if it is a request.
  const Op& ApplyNext(const Op& op);

 private:
  /// A chunk that a packet continues in, or that it continues from.
  struct OpenPacket {
    ChunkId chunk{};
    std::unique_ptr<PacketMask>
        before;                        // as of the chunk's start; nullptr: it begins with a packet
    std::unique_ptr<PacketMask> mask;  // as of the chunk's end; nullptr: it ends with a packet
    /// Bytes of the first fragment, if the packet's beginning was not known when it was masked: all
    /// of it is zeros. (A chunk can be scraped while the one before it is not complete.)
    std::optional<uint32_t> cleared;
  };
  /// Of a sequence, the chunks committed last: each can be re-committed, and each next one come.
  struct Sequence {
    static constexpr size_t kChunks = 4;
    std::array<OpenPacket, kChunks> open;
    size_t next = 0;  // that is replaced
    /// Sizes that are still missing of messages of packets that have ended: what follows these
    /// messages is not known, so the patches will have them end with their packets.
    std::vector<std::pair<PacketMask::Place, uint64_t>> missing;
    static constexpr size_t kMaxMissing = 64;
    /// Places where a size was assumed to be missing, and neither was patched nor turned out to be
    /// there.
    std::vector<PacketMask::Place> assumed;

    /// @return offset of such a place in the chunk
    std::optional<uint32_t> AssumedIn(ChunkId chunk) const;
    void Assume(PacketMask::Place place);
    OpenPacket* Find(ChunkId chunk);
    OpenPacket& Get(ChunkId chunk);
  };
  struct PatchedSize {
    SequenceKey sequence;
    PacketMask::Place place;
    uint64_t size = 0;
    std::span<uint8_t> data;       // of the patch
    std::span<uint8_t> offset_at;  // varint of its offset
  };
  /// The patches of a chunk that a request brings.
  struct PatchedChunk {
    SequenceKey sequence;
    ChunkId chunk{};
    bool is_last = false;  // none follow
  };

  void ApplyToRequest(Commit& commit);
  void ApplyToChunk(ProducerId producer, std::span<uint8_t> entry);
  void ApplyToPayload(SequenceKey sequence, const ChunkHeader& header, bool complete,
                      std::span<uint8_t> payload);
  void ApplyToPatches(ProducerId producer, std::span<uint8_t> entry);
  /// Where a size of the chunk was assumed to be missing: was it?
  void ResolveAssumed(const PatchedChunk& patched);
  /// Has the message end with its packet, if that has ended already.
  void ExtendSize(const PatchedSize& size);
  /// The packet has ended: what is missing of its messages' sizes is remembered.
  /// @param more bytes that the packet has after what the mask has seen
  static void NoteMissing(Sequence& sequence, const PacketMask& mask, uint64_t more);
  void SetSizes(SequenceKey sequence);
  /// The sizes that are missing in the last fragment of a chunk that waits for patches.
  PacketMask::MissingSizes MissingIn(SequenceKey sequence, ChunkId chunk) const;

  Op op_;
  std::string request_;
  std::vector<PatchedSize> sizes_;     // of the request's patches
  std::vector<PatchedChunk> patched_;  // by the request
  PatchesAhead ahead_;
  std::map<SequenceKey, Sequence> sequences_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PAYLOAD_PAYLOAD_REMOVER_H_
