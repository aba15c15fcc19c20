#ifndef RINGSCOPE_CORE_LEDGER_LEDGER_H_
#define RINGSCOPE_CORE_LEDGER_LEDGER_H_

#include "core/ledger/fate.h"
#include "core/ledger/written_commit.h"
#include "core/session/session.h"

namespace ringscope {

/// A place where the log itself reports that something is missing: its recorder missed it, or it
/// cannot be read.
struct ReportedLoss : RecorderGap {
  LogMoment at;  // its record

  /// Returns the sequence whose packets are missing, where that is known.
  std::optional<SequenceKey> sequence() const {
    return producer && writer ? std::optional(SequenceKey{*producer, *writer}) : std::nullopt;
  }
  bool Concerns(SequenceKey key) const {
    return sequence().value_or(SequenceKey{producer.value_or(key.producer), key.writer}) == key;
  }
};

/// Gathers them from the records. Memory: up to a limit.
class ReportedLosses {
 public:
  explicit ReportedLosses(size_t limit) : limit_(limit) {}

  void Add(const Op& op, const LogMoment& moment);

  /// In order of the log.
  const std::vector<ReportedLoss>& list() const { return list_; }
  uint64_t unlisted() const { return unlisted_; }
  /// Index of the first one between two records that may explain what the sequence lacks there.
  std::optional<size_t> Between(const LogMoment& first, const LogMoment& last,
                                SequenceKey sequence) const;
  /// Returns true if one may explain what the sequence lacks there, listed or not.
  bool MayExplain(const LogMoment& first, const LogMoment& last, SequenceKey sequence) const {
    const bool is_past_list = unlisted_ > 0 && list_.back().at.record <= last.record;
    return is_past_list || Between(first, last, sequence);
  }

 private:
  const size_t limit_;
  std::vector<ReportedLoss> list_;
  uint64_t unlisted_ = 0;
};

namespace ledger {
class BufferLedger;
}

// The ledger: each sequence is reassembled from the log's commits alone, as if the buffer were
// endless, and each packet of it has exactly one fate in a replay.

/// What decided the fate of a packet.
struct Decision {
  Cause cause = Cause::kNone;
  Fate fate = RowOf(cause).fate;
  /// All its fragments were in the buffer, whole and patched, when the buffer abandoned it: lost to
  /// a bug of this buffer version.
  bool own_fault = false;
  uint32_t loss_bits = 0;  // read, invalid: what it carried; cut: why it was abandoned
  LogMoment decided;       // when the fate was decided; for stalled: since when it waits
  /// Overwritten, folded: the commit that needed the space. Already consumed: the chunk of its
  /// sequence that left the buffer before.
  std::optional<ChunkName> culprit;
  /// When that which is to blame happened: the commit of PacketAccount::waits_for; already
  /// consumed: the read, or the commit, with which `culprit` left the buffer; wrong patch, broken
  /// size: the patch.
  LogMoment blamed;
};

/// A packet that was written, and what became of it.
struct PacketAccount : Decision {
  BufferId buffer{};
  SequenceKey sequence;
  // Its place: what distinguishes packets of a sequence, whatever their content.
  uint64_t first_chunk = 0;   // chunk id, unwrapped: its lower 32 bits are the id
  uint64_t last_chunk = 0;    // of the last fragment seen
  uint32_t fragment = 0;      // index of the first fragment in its chunk
  uint32_t first_offset = 0;  // of that fragment's size varint in the chunk's payload
  uint64_t size = 0;          // bytes, of all fragments seen
  bool in_fragments = false;  // its first fragment, or its last one, is not all of it
  PacketFacts facts;          // from its bytes
  LogMoment written;          // commit of the last fragment seen

  uint32_t pass = 0;      // read, invalid: in which read pass of its buffer, from 1
  uint64_t position = 0;  // read, invalid: which packet of that pass it was, from 1
  /// Stalled, awaited patch, behind a stall: the chunk at which its sequence waits.
  std::optional<ChunkName> waits_for;
};

/// Receives the ledger's entries. Per packet written exactly one, when its fate is decided; within
/// a sequence mostly, but not always, in order.
class LedgerSink {
 public:
  virtual ~LedgerSink() = default;

  /// Returns false if it does not look at PacketAccount::facts, which are then not read. Constant.
  virtual bool reads_facts() const { return true; }
  /// A chunk is committed, to a buffer or in vain: before what becomes of its packets is reported,
  /// and before the replay's other listeners get it (ReplayListener::OnChunk).
  virtual void OnChunkWritten(BufferId, WrittenCommit&) {}
  virtual void OnPacketFate(const PacketAccount&) {}
  /// A read pass returned a valid packet. Its fate was reported just before, unless it was returned
  /// before that: then it is a duplicate, and not counted among the fates.
  virtual void OnReturned(const PacketAccount&, const SessionPacket&) {}
  /// A patch changed a fragment that its writer had completed, or broke the chunk.
  virtual void OnWrongPatch(BufferId, ChunkName) {}
  /// The buffer refused a chunk that was committed before, and every packet in it was known.
  virtual void OnRepeatedCommit(BufferId) {}
  /// The chunk (its id unwrapped) left the buffer and is forgotten: nothing more is reported of the
  /// packets that are in it alone. Not called at the log's end.
  virtual void OnChunkForgotten(BufferId, SequenceKey, uint64_t /*chunk*/) {}
};

using LedgerSinks = ListenerList<LedgerSink>;

using FateCount = PacketCount;

/// Packets by fate.
struct FateCounts : std::array<FateCount, kFates> {
  using std::array<FateCount, kFates>::operator[];
  FateCount& operator[](Fate fate) { return (*this)[static_cast<size_t>(fate)]; }
  const FateCount& operator[](Fate fate) const { return (*this)[static_cast<size_t>(fate)]; }
  FateCounts& operator+=(const FateCounts& other);
  FateCount all() const;  // packets
  /// Places at which writers dropped an unknown number of packets.
  uint64_t places() const { return Of(FateGroup::kDropped).packets; }
  FateCount Of(FateGroup group) const;
  FateCount lost() const { return Of(FateGroup::kLost); }
  FateCount left() const { return Of(FateGroup::kLeft); }
  FateCount elsewhere() const { return Of(FateGroup::kElsewhere); }
};

/// A buffer's accounts. The fates add up to what was written, and so do read, lost, left, folded
/// and elsewhere: Ledger::Check.
struct LedgerTotals {
  FateCount written;  // counted as packets were found in the log
  FateCounts by_fate;
  FateCount own_fault;    // of these, lost to a bug of the buffer
  FateCount duplicates;   // beside the fates
  uint64_t returned = 0;  // packets that read passes returned, however valid

  LedgerTotals& operator+=(const LedgerTotals& other);
  const FateCount& operator[](Fate fate) const { return by_fate[fate]; }
  FateCount lost() const { return by_fate.lost(); }
  FateCount left() const { return by_fate.left(); }
  FateCount elsewhere() const { return by_fate.elsewhere(); }
};

/// Follows a replay and accounts for every packet. Memory: O(chunks held + open packets +
/// sequences).
class Ledger : public ReplayListener {
 public:
  explicit Ledger(LedgerSinks sinks);
  ~Ledger() override;

  /// By buffer. Complete once all buffers were drained.
  const std::map<BufferId, LedgerTotals>& totals() const { return totals_; }
  /// Call after the end. Returns a warning of sums that do not add up, which are a bug in
  /// ringscope; empty if all do.
  std::string Check() const;
  /// How often the accounts of a buffer were settled after a record: once for each buffer that
  /// something happened to.
  uint64_t settled() const { return settled_; }

  bool WantsBufferEvents() const override { return true; }
  void OnRecord(const Op& op, const LogMoment& moment) override;
  void OnBufferSetUp(SessionBuffer& buffer) override;
  void OnBufferReplaced(SessionBuffer& buffer) override;
  void OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal> refusal) override;
  void OnChunkDone(BufferId buffer, const ChunkCommit& commit) override;
  void OnReadBegun(BufferId buffer) override;
  Status OnPacket(const SessionPacket& packet) override;
  void OnTakenPacket(const SessionPacket& packet) override;
  void OnBufferEvent(const BufferEvent& event) override;
  void OnDrainBegun(BufferId buffer) override;
  void OnDrainEvent(const BufferEvent& event) override;
  void OnDrainPacket(BufferId buffer, const Packet& packet) override;
  void OnDrained() override;

 private:
  ledger::BufferLedger& Of(BufferId id);
  /// Returns the accounts of a buffer that may have to be settled at the end of the record.
  ledger::BufferLedger& Touch(BufferId id);
  void Close(BufferId id);

  const LedgerSinks sinks_;
  LogMoment now_;
  WrittenCommit written_;  // the chunk that is being committed
  ReportedLosses reported_{/*limit=*/4096};
  std::map<BufferId, std::unique_ptr<ledger::BufferLedger>> buffers_;
  std::vector<BufferId> touched_;  // by the record under way
  uint64_t settled_ = 0;
  std::map<BufferId, LedgerTotals> totals_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LEDGER_LEDGER_H_
