// The ledger of one buffer: which fate each packet has that was written to it.
//
//     commits ──► WrittenPackets: packets as if the buffer were endless
//                      │ records of chunks, chains of fragments
//                      ▼
//     engine's events ──► live ──► lost ──► reported (LedgerSink, totals)
//                          │  ◄─────┘ Revive: the chunk is in the buffer again
//                          └──► returned by a read ──► reported at once
//
// It holds the packets written (WrittenPackets), the chunks at which reads stop because a patch is
// missing (PatchStalls), the chunks that left the buffer and may be re-committed, and the totals.
//
// The ledger hears of a commit before the engine and after it, and of what happens in between:
//     BeginChunk, OnEvent*, EndChunk       a chunk goes into the buffer
//     Refused                              the session refuses it; the engine does not see it
//     BeginRead, (OnEvent | OnRead)*       a read pass
//     Settle                               the record is over, or a commit is
//     OnDrainEvent, OnDrainPacket, Finish  once, at the end: the engine is read out to its end
// The effect of a commit depends on the engine's answer, so its record is made in EndChunk. Events
// in between concern earlier commits, but for the answer: committed, rewritten or discarded.
//
// Between the calls:
// - Each packet is live (it can still be returned), lost, read, or gone (it is reported). A whole
//   packet has its state in the record of its chunk, a packet in fragments in its chain.
// - A packet is reported once, and the fates add up to what was written (Ledger::Check).
// - A lost packet is reported when nothing can bring it back. A loss inside the buffer is final. A
//   packet that left with its chunk waits until the chunk is forgotten: the writer of a scraped
//   chunk commits it again, and V1 takes any chunk again. Up to kMaxEvicted chunks are remembered.
// - A packet that a read returns again is a duplicate. A packet that was reported as lost and is
//   returned counts as written once more.
// - The first event after which a packet cannot be returned decides its fate. Two things are asked
//   later: a writer's violation of a rule makes it corrupted, and an overwritten packet that waited
//   for a patch is blamed on the patch (BlameStall).
// - An engine that reports nothing of its chunks (a plug-in) leaves silent_size_ set: what it did
//   not return is unexplained.
//
// buffer_ledger.cc turns events into fates; ledger_settle.cc reports them, and has the end.

#ifndef RINGSCOPE_CORE_LEDGER_BUFFER_LEDGER_H_
#define RINGSCOPE_CORE_LEDGER_BUFFER_LEDGER_H_

#include <deque>

#include "core/ledger/written_packets.h"

namespace ringscope::ledger {

/// Chunks at which reads of their sequences stop because a patch is missing, in the buffer or
/// evicted from it. Memory: O(such chunks), at most kMaxEvicted evicted ones of each sequence.
class PatchStalls {
 public:
  struct Blocking {
    uint64_t id = 0;  // of the chunk, unwrapped
    LogMoment since;  // its commit
  };

  void Add(SequenceKey sequence, uint64_t chunk, const LogMoment& since) {
    Chunks& chunks = chunks_[sequence];
    chunks.evicted.erase(chunk);
    chunks.held[chunk] = {chunk, since};
  }
  /// The chunk got its patches, or left the buffer by a read.
  void Remove(SequenceKey sequence, uint64_t chunk) {
    Chunks* const of = FindIn(chunks_, sequence);
    if (of == nullptr) return;
    of->held.erase(chunk);
    of->evicted.erase(chunk);
    if (of->held.empty() && of->evicted.empty()) chunks_.erase(sequence);
  }
  /// The chunk was evicted while it still waited for the patch.
  void Evict(SequenceKey sequence, uint64_t chunk) {
    Chunks* const of = FindIn(chunks_, sequence);
    if (of == nullptr) return;
    of->evicted.insert(of->held.extract(chunk));
    // Chunks evicted long ago are not needed any more.
    if (of->evicted.size() > kMaxEvicted) of->evicted.erase(of->evicted.begin());
  }

  /// The lowest blocking chunk of the sequence in the buffer, if below `chunk`.
  std::optional<uint64_t> FirstBefore(SequenceKey sequence, uint64_t chunk) const {
    const Chunks* const of = FindIn(chunks_, sequence);
    if (of == nullptr || of->held.empty()) return std::nullopt;
    const uint64_t first = of->held.begin()->first;
    return first < chunk ? std::optional(first) : std::nullopt;
  }
  /// The lowest blocking chunk in this range, in the buffer or evicted.
  const Blocking* FirstIn(SequenceKey sequence, uint64_t first, uint64_t last) const {
    const Chunks* const of = FindIn(chunks_, sequence);
    if (of == nullptr) return nullptr;
    const Blocking* lowest = nullptr;
    for (const auto* chunks : {&of->held, &of->evicted}) {
      const auto at = chunks->lower_bound(first);
      if (at != chunks->end() && at->first <= last && (lowest == nullptr || at->first < lowest->id))
        lowest = &at->second;
    }
    return lowest;
  }

 private:
  static constexpr size_t kMaxEvicted = 1024;

  /// Blocking chunks of a sequence, by id.
  struct Chunks {
    std::map<uint64_t, Blocking> held, evicted;  // in the buffer, and evicted from it
  };
  std::unordered_map<SequenceKey, Chunks> chunks_;
};

/// Returns true if the chunk of a packet with this fate left the buffer unread: if the chunk is
/// re-committed, the packet is there again.
constexpr bool LeftWithChunk(Fate fate) {
  return fate == Fate::kOverwritten || fate == Fate::kFolded || fate == Fate::kMoved ||
         fate == Fate::kCleared;
}

class BufferLedger : private WriterLosses {
 public:
  /// @param now the record under way; must outlive this, like the rest
  BufferLedger(BufferId id, const LogMoment& now, const ReportedLosses& reported,
               const LedgerSinks& sinks)
      : id_(id),
        now_(now),
        reported_(reported),
        sinks_(sinks),
        packets_(id, now, *this, sinks.Any(&LedgerSink::reads_facts)) {}

  /// @param size of the buffer, bytes: what it can hold at most
  void SetEngine(const EngineInfo& info, uint64_t size, FillPolicy policy) {
    reports_ = info.reports;
    if (!reports_.chunks) silent_size_ = size;
    keeps_first_ = policy == FillPolicy::kDiscard && !reports_.chunks;
    stalls_whole_chunks_ = info.flags_first_of_sequence;
  }
  /// @param written stays as it is until EndChunk
  void BeginChunk(const WrittenCommit& written);
  void Refused(const WrittenCommit& written, Refusal why);
  void EndChunk();
  void BeginRead() { ++pass_, position_ = 0; }
  /// @param is_taken the session itself read it before the clone that is replayed
  void OnRead(const SessionPacket& packet, bool is_taken);
  void Settle();
  void OnEvent(const BufferEvent& event);
  void OnDrainEvent(const BufferEvent& event);
  void OnDrainPacket(const Packet& packet) { Return(packet, {.fate = Fate::kReadable}, nullptr); }
  void Finish();

  const LedgerTotals& totals() const { return totals_; }

 private:
  /// The chunk that a sequence waits for at the log's end, and why.
  struct Stall {
    ChunkName at;
    Cause cause = Cause::kNone;
  };
  enum class Outcome : uint8_t { kUnknown, kCommitted, kRewritten, kRefused };

  // Fates.
  void OnDiscarded(ChunkName chunk, DiscardReason reason);
  void OnErased(ChunkName key, const BufferEvent::Erased& erased);
  void OnPatched(ChunkName key, const BufferEvent::Patched& patched);
  /// @param payload of the chunk, with the patches that were applied
  void CheckPatches(ChunkName key, ChunkRecord& record, Bytes payload, const ChunkPatches& sent);
  void OnFolded(ChunkName chunk, const BufferEvent::Folded& folded);
  void OnAbandoned(ChunkName key, const BufferEvent::Abandoned& abandoned, bool draining);
  void AbandonAtEnd(const ChunkRecord& record, Entry& entry);
  void Lose(SequenceKey sequence, ChunkRecord& record, size_t first, size_t end,
            const Decision& loss, Bytes payload);
  void LoseChain(ChainId id, const Decision& loss) override;
  void AddLost(PacketAccount& account, const Decision& loss) override;
  void Decide(PacketAccount& account, const Decision& loss,
              const std::optional<Cause>& violation) const;
  void Revive(ChunkRecord& record, uint32_t consumed);
  void Return(const Packet& packet, const Decision& decision, const SessionPacket* read);
  void NotePatchState(ChunkName key, ChunkRecord& record);
  ChunkRecord* Find(ChunkName chunk);
  size_t IndexAt(const ChunkRecord& record, uint32_t offset) const;

  // Reports.
  void Report(PacketAccount& account);
  void BlameStall(PacketAccount& account) const;
  void SettleRecord(ChunkName key);
  void ReportLost(ChunkRecord& record, const LostEntry& lost);
  void SettleChain(ChainId id);
  void ReportChain(Chain& chain);
  void AddEvicted(ChunkName key, ChunkRecord& record);
  bool TooManyEvicted() const;
  void Forget(ChunkName key);
  void FinishRecord(ChunkName key, ChunkRecord& record);
  void FinishChain(ChainId id);
  Cause CauseOfHole(const Chain& chain, bool is_start) const;
  void StallAccount(PacketAccount& account, bool abandoned) const;

  static constexpr size_t kNone = SIZE_MAX;

  const BufferId id_;
  const LogMoment& now_;
  const ReportedLosses& reported_;
  const LedgerSinks& sinks_;
  LedgerTotals totals_;
  WrittenPackets packets_;
  SequenceMap<Stall> stalls_;
  PatchStalls patch_stalls_;
  EngineReports reports_;
  bool stalls_whole_chunks_ = false;  // a chunk that lacks a patch keeps its whole packets (V1)
  std::deque<ChunkName> evicted_;     // chunks that left the buffer, oldest first
  size_t evicted_packets_ = 0;        // in the chunks of evicted_
  uint64_t evicted_bytes_ = 0;
  std::optional<uint64_t> silent_size_;  // bytes of a buffer that does not report its chunks
  bool keeps_first_ = false;             // such a buffer, with policy DISCARD
  uint32_t pass_ = 0;
  uint64_t position_ = 0;  // of the last packet in that pass
  // The commit under way.
  const WrittenCommit* arriving_ = nullptr;
  std::vector<size_t> not_replaced_;  // fragments of it, in the place of others that stay
  Outcome outcome_ = Outcome::kUnknown;
  Decision refusal_;
  uint32_t consumed_ = 0;  // bytes of the chunk that the engine takes as consumed
  bool engine_needs_patch_ = false;
  std::vector<ChunkName> touched_;  // to be settled
  // The record that Find found last: packets of a chunk follow each other. Records never move.
  ChunkName last_found_key_;
  ChunkRecord* last_found_ = nullptr;
};

}  // namespace ringscope::ledger

#endif  // RINGSCOPE_CORE_LEDGER_BUFFER_LEDGER_H_
