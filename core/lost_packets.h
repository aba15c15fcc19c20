#ifndef RINGSCOPE_CORE_LOST_PACKETS_H_
#define RINGSCOPE_CORE_LOST_PACKETS_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/engine.h"
#include "core/ledger.h"
#include "core/session.h"
#include "core/written_chunk.h"

namespace ringscope {

/// A packet that the buffer lost, with its bytes.
struct LostPacket {
  PacketAccount account;
  Identity identity;              // of its writer
  std::span<const Bytes> slices;  // valid during the call
  bool gap_before = false;        // the packet before it in its sequence did not come just before
};

/// Keeps the bytes of what is written until its fate is known, and hands on the packets that were
/// lost: those of a loss (IsLoss) whose bytes are whole, patched, and well-formed as the service
/// wants a packet to be. Others can not stand in a trace: what a writer dropped, what was cut for
/// lack of a chunk, what is malformed. Packets of a sequence come in the order in which they were
/// written, but where a chunk was committed long after its successors.
/// Give it to a replay as a sink behind the ledger and as the ledger's sink, and give out its
/// observers. Memory: O(payloads of chunks held and of those that the ledger remembers).
class LostPackets : public SessionSink, public LedgerSink {
 public:
  using Listener = std::function<void(const LostPacket&)>;
  using Counts = std::array<FateCount, kFates>;  // by Fate

  explicit LostPackets(Listener listener);
  ~LostPackets() override;

  EngineObserver* Observer(BufferId buffer);
  /// At the end of the log, when the ledger has finished.
  void Finish();

  /// Lost packets that were handed on, and those that could not be.
  const Counts& handed_on() const { return handed_on_; }
  const Counts& unwritable() const { return unwritable_; }
  /// Chunks whose payload is kept.
  size_t size() const { return chunks_.size(); }

  void OnRecord(const Op& op, uint64_t number) override;
  void OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal> refusal) override;
  void OnBufferReplaced(SessionBuffer& buffer) override;

  void OnPacketFate(const PacketAccount& account) override;
  void OnChunkForgotten(BufferId buffer, SequenceKey sequence, uint64_t chunk) override;

 private:
  class PatchObserver;

  struct Key {
    BufferId buffer{};
    SequenceKey sequence;
    ChunkId chunk{};
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      const uint64_t name = ChunkName{key.sequence, key.chunk}.Packed();
      return (name ^ uint64_t{Raw(key.buffer)} << 48) * 0x9E3779B97F4A7C15ull >> 16;
    }
  };
  /// Where a packet begins, or would begin behind another.
  struct Place {
    uint64_t chunk = 0;
    uint32_t fragment = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };
  /// A lost packet that waits for its chunk to be settled, so that it comes in order.
  struct Lost {
    PacketAccount account;
    std::optional<std::string> bytes;  // of a packet in pieces, joined when its fate was told
    Place behind;                      // of a packet in pieces
  };
  struct Stored {
    std::string bytes;       // of the fragments, patched
    uint32_t fragments = 0;  // how many
    uint32_t last_offset = 0;
    bool first_is_piece = false;  // of a packet that began before
    bool last_is_piece = false;   // of a packet that goes on behind
    bool needs_patch = false;
    Identity identity;
    // What keeps it: fates that are still to be told.
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
  void ReleaseIfSettled(const Key& key);
  void Release(Stored& chunk);
  void HandOn(const Stored& chunk, const Lost& lost);
  void FinishIf(const std::function<bool(const Key&)>& applies);

  Listener listener_;
  std::unordered_map<Key, Stored, KeyHash> chunks_;
  std::map<std::tuple<BufferId, SequenceKey>, Place> behind_;  // the packet handed on last
  std::map<ProducerId, Identity> identities_;
  std::map<BufferId, std::unique_ptr<PatchObserver>> observers_;
  Counts handed_on_{};
  Counts unwritable_{};
  WrittenChunk written_;  // scratch
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOST_PACKETS_H_
