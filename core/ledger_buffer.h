#ifndef RINGSCOPE_CORE_LEDGER_BUFFER_H_
#define RINGSCOPE_CORE_LEDGER_BUFFER_H_

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/interval_set.h"
#include "core/key_index.h"
#include "core/ledger.h"
#include "core/ledger_chains.h"
#include "core/written_chunk.h"

namespace ringscope::ledger {

/// A fragment of a chunk. Pieces of a packet have their standing in its chain.
struct Entry {
  uint32_t offset = 0;  // of its size varint
  uint32_t size = 0;
  FragmentKind kind = FragmentKind::kWhole;
  State state = State::kLive;    // of a whole packet
  bool given_up_at_end = false;  // the reading out at the log's end gave it up
};

/// A chunk that is in the buffer, or that may come again.
struct ChunkRecord {
  uint64_t id = 0;  // unwrapped
  uint32_t bytes = 0;
  uint32_t unfinished_bytes = 0;
  uint64_t prefix_hash = 0;  // of the fragments of a scraped chunk, to know it again
  bool complete = false;
  bool held = false;  // in the buffer
  bool needs_patch = false;
  bool parting = false;        // not in the buffer; forgotten when many others have followed
  size_t parting_packets = 0;  // doomed ones when it left
  uint32_t parting_bytes = 0;  // its bytes then
  std::optional<Cause> taint;  // its writer broke a rule: what is lost of it is corrupted
  ChainId head = kNoChain;
  ChainId tail = kNoChain;
  LogMoment written;
  std::vector<Entry> entries;
  std::vector<PacketAccount> doomed;  // of its whole packets, not told yet
};

/// The accounts of one buffer. An observer of its engine, told of everything else by the ledger.
class BufferLedger : public EngineObserver {
 public:
  /// @param now the record under way; must outlive this, like the sink
  BufferLedger(BufferId id, const LogMoment& now, LedgerSink& sink)
      : id_(id), now_(now), sink_(sink) {}

  /// The engine does not tell what happens to its chunks, only what it returns.
  /// @param size of the buffer, bytes: what it can hold at most
  void SetSilent(uint64_t size, FillPolicy policy) {
    silent_size_ = size;
    keeps_first_ = policy == FillPolicy::kDiscard;
  }
  /// A chunk is about to go into the buffer; EndChunk follows, or Refused came instead.
  void BeginChunk();
  void Refused(const ChunkCommit& commit, Refusal why);
  void EndChunk(const ChunkCommit& commit);
  void BeginRead() { ++pass_; }
  void OnRead(const Packet& packet, bool valid);
  /// After a read, or whatever else happened in a record: tells what is settled.
  void Settle();
  /// Reads the buffer out and accounts for everything that is left.
  /// @param engine nullptr: there never was such a buffer
  void Finish(Engine* engine);
  /// Starts empty accounts, for another buffer under the same id.
  void Reset();

  const LedgerTotals& totals() const { return totals_; }

  void OnCommitted(const ObservedChunk& chunk) override;
  void OnRewritten(const ObservedChunk& chunk) override;
  void OnRelocated(const ObservedChunk&) override { relocating_ = true; }
  void OnDiscarded(const ChunkCommit& commit, DiscardReason reason) override;
  void OnEvicting(const ObservedChunk&, const ChunkCommit& by) override {
    evicting_for_ = ChunkName{by.sequence, by.chunk};
  }
  void OnErased(const ObservedChunk& chunk) override;
  void OnPatched(const ObservedChunk& chunk, const ChunkPatches& patches) override;
  void OnPatchMissed(const ObservedChunk* chunk, const ChunkPatches& patches, PatchMiss) override;
  void OnPacketGivenUp(SequenceKey sequence, const PacketPlace& place, uint32_t cause) override;
  void OnStalled(SequenceKey sequence, ChunkId chunk, StallReason reason) override;

 private:
  struct Sequence {
    SequenceKey key;
    bool known = false;
    uint64_t newest = 0;        // chunk id, unwrapped
    IntervalSet completed;      // unwrapped ids of chunks that were committed whole
    std::deque<uint64_t> open;  // keys of scraped chunks that left the buffer, oldest first
    // What it waits for at the log's end.
    std::optional<ChunkName> stalled_at;
    Cause stall = Cause::kNone;
  };
  /// Why something is lost.
  struct Loss {
    Fate fate = Fate::kUnexplained;
    Cause cause = Cause::kNone;
    std::optional<ChunkName> culprit;
    uint32_t loss_bits = 0;
  };
  enum class Outcome : uint8_t { kUnknown, kCommitted, kRewritten, kRefused };

  using Records = std::unordered_map<uint64_t, ChunkRecord>;

  // What was written (ledger_written.cc).
  void Arrive(const ChunkCommit& commit);
  void CompareWithRecord(const ChunkCommit& commit, ChunkRecord& record) const;
  void AddFragments(uint64_t key, const Sequence& sequence, ChunkRecord& record, Bytes payload);
  void AddEnd(uint64_t key, const Sequence& sequence, ChunkRecord& record);
  void LinkFront(uint64_t key, const Sequence& sequence, ChunkRecord& record, size_t index,
                 Bytes payload);
  void LinkBack(uint64_t key, const Sequence& sequence, ChunkRecord& record, size_t index,
                Bytes payload);
  void LinkNeighbours(uint64_t key, const Sequence& sequence, const ChunkRecord& record);
  ChainId StartChain(const Sequence& sequence, const ChunkRecord& record, size_t index,
                     Bytes payload);
  void AddPiece(ChainId id, const ChunkRecord& record, size_t index);
  void Join(ChainId earlier, ChainId later);
  void CloseFront(ChainId id);
  void CloseBack(ChainId id);
  void SetPieces(ChunkRecord& record, bool held, bool needs_patch);
  bool IsCommitted(const Sequence& sequence, uint64_t key, uint64_t id) const;
  static void CheckSizes(ChunkRecord& record, Bytes payload, const ChunkPatches& patches);
  Sequence& SequenceOf(SequenceKey key);

  // What became of it (ledger_buffer.cc).
  void Lose(uint64_t key, ChunkRecord& record, size_t index, const Loss& loss, Bytes payload);
  void LoseFrom(uint64_t key, ChunkRecord& record, size_t first, const Loss& loss, Bytes payload);
  void DoomChain(ChainId id, const Loss& loss);
  void Seal(PacketAccount& account, const Loss& loss, const std::optional<Cause>& taint) const;
  void Revive(ChunkRecord& record, uint32_t consumed);
  void Return(const Packet& packet, Fate fate, Cause cause);
  PacketAccount AccountOf(SequenceKey sequence, const ChunkRecord& record, size_t index) const;
  void Tell(const PacketAccount& account);
  void CountWritten(uint64_t bytes) { totals_.written += {1, bytes}; }
  ChunkRecord* Find(SequenceKey sequence, ChunkId chunk);
  size_t IndexAt(const ChunkRecord& record, uint32_t offset) const;
  bool Begins(const Entry& entry, const ChunkRecord& record);

  // When it is told (ledger_settle.cc).
  void SettleRecord(uint64_t key);
  void SettleChain(ChainId id);
  void TellChain(Chain& chain);
  void Part(uint64_t key, ChunkRecord& record);
  bool TooManyParting() const;
  void Forget(uint64_t key);
  void FinishRecord(uint64_t key, ChunkRecord& record);
  void FinishChain(ChainId id);
  void StallAccount(PacketAccount& account, bool given_up) const;

  static constexpr size_t kNone = SIZE_MAX;

  const BufferId id_;
  const LogMoment& now_;
  LedgerSink& sink_;
  LedgerTotals totals_;
  KeyIndex slots_;
  StableVector<Sequence> sequences_;
  Records records_;  // by ChunkName::Packed
  // Chunks that left the buffer, oldest first. A chunk may come again: a scraped one when its
  // writer commits it, and V1 takes it even if it had it before.
  std::deque<uint64_t> parting_;
  size_t parting_packets_ = 0;  // the sum over these
  uint64_t parting_bytes_ = 0;
  std::optional<uint64_t> silent_size_;  // of a buffer that does not tell what happens in it
  bool keeps_first_ = false;             // and which discards what comes later
  Chains chains_;
  uint32_t pass_ = 0;
  bool draining_ = false;
  // The commit under way.
  bool committing_ = false;
  bool relocating_ = false;
  Outcome outcome_ = Outcome::kUnknown;
  Loss refusal_;
  uint32_t consumed_ = 0;  // bytes of the chunk that the engine takes as consumed
  bool engine_needs_patch_ = false;
  std::optional<ChunkName> evicting_for_;
  WrittenChunk written_;
  // What may have to be told at the end of the record.
  std::vector<uint64_t> touched_;
  std::vector<ChainId> touched_chains_;
};

}  // namespace ringscope::ledger

#endif  // RINGSCOPE_CORE_LEDGER_BUFFER_H_
