#ifndef RINGSCOPE_CORE_LEDGER_LOST_PACKETS_H_
#define RINGSCOPE_CORE_LEDGER_LOST_PACKETS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/sequence_map.h"
#include "core/ledger/ledger.h"
#include "core/perfetto/commit_fragments.h"
#include "core/session/session.h"

namespace ringscope {

/// A packet that the buffer lost, with its bytes.
struct LostPacket {
  PacketAccount account;
  Identity identity;              // of its writer
  std::span<const Bytes> slices;  // valid during the call; empty: it cannot be in a trace
  bool gap_before = false;        // the packet before it in its sequence was not handed on
  uint32_t kind = 0;              // of PacketKinds, as it was given with the fate
};

/// Keeps the bytes of what is written until its fate is known, and hands on the packets that were
/// lost, if they are whole, patched and valid. Those of a sequence come in the order in which they
/// were written, but where a chunk was committed long after its successors. It listens after the
/// ledger, and to it. Memory: O(payloads of chunks held and of those that the ledger remembers).
class LostPackets : public ReplayListener, public LedgerSink {
 public:
  using Listener = std::function<void(const LostPacket&)>;

  /// @param all whether packets that cannot be in a trace are handed on, too, without their bytes
  explicit LostPackets(Listener listener, bool all = false);
  ~LostPackets() override;

  /// Lost packets that could not be handed on.
  const FateCounts& unwritable() const { return unwritable_; }
  /// Chunks whose payload is kept.
  size_t size() const { return chunks_.size(); }

  bool WantsBufferEvents() const override { return true; }
  void OnRecord(const Op& op, const LogMoment& moment) override;
  void OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal> refusal) override;
  void OnBufferReplaced(SessionBuffer& buffer) override;
  void OnBufferEvent(const BufferEvent& event) override;
  void OnDrained() override;

  void OnPacketFate(const PacketAccount& account) override { AddFate(account, 0); }
  /// Adds a fate with the packet's kind (of PacketKinds).
  void AddFate(const PacketAccount& account, uint32_t kind);
  void OnChunkForgotten(BufferId buffer, SequenceKey sequence, uint64_t chunk) override;

 private:
  /// The place where a packet begins, or would begin after another.
  struct Place {
    uint64_t chunk = 0;
    uint32_t fragment = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };
  /// A lost packet that waits for its chunk to be settled, so that it comes in order.
  struct Lost {
    PacketAccount account;
    uint32_t kind = 0;
    std::optional<std::string>
        bytes;   // of a packet in fragments, joined when its fate was reported
    Place next;  // of a packet in fragments
  };
  struct Stored {
    std::string bytes;       // of the fragments, patched
    uint32_t fragments = 0;  // how many
    uint32_t last_offset = 0;
    bool first_continues = false;  // of a packet that began before
    bool last_continues = false;   // of a packet that continues in the next chunk
    bool needs_patch = false;
    Identity identity;
    // The chunk is kept as long as fates of its packets are to be reported.
    bool forgotten = false;
    bool first_open = false;
    bool last_open = false;
    std::vector<Lost> lost;
  };

  void Patch(BufferId buffer, const ChunkPatches& patches);
  bool IsWhole(const Stored& chunk, const PacketAccount& account) const;
  void Close(const PacketAccount& account);
  std::optional<std::string> Join(const PacketAccount& account) const;
  const Stored* Find(const PacketAccount& account, uint64_t chunk) const;
  void ReleaseIfSettled(const ChunkAt& key);
  void Release(Stored& chunk);
  void HandOn(const Stored& chunk, const Lost& lost);
  void FinishIf(const std::function<bool(const ChunkAt&)>& applies);

  const Listener listener_;
  const bool all_;
  std::unordered_map<ChunkAt, Stored> chunks_;
  std::map<BufferId, SequenceMap<Place>> next_;  // after the packet handed on last
  std::map<ProducerId, Identity> identities_;
  FateCounts unwritable_;
  WrittenChunk written_;  // scratch
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LEDGER_LOST_PACKETS_H_
