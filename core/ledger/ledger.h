#ifndef RINGSCOPE_CORE_LEDGER_LEDGER_H_
#define RINGSCOPE_CORE_LEDGER_LEDGER_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/enum_names.h"
#include "core/base/ids.h"
#include "core/base/log_moment.h"
#include "core/ledger/written_commit.h"
#include "core/log/op.h"
#include "core/perfetto/packet_facts.h"
#include "core/session/session.h"

namespace ringscope {

/// A place where the log itself reports that something is missing: its recorder missed it, or it
/// cannot be read.
struct ReportedLoss {
  LogMoment at;  // its record
  std::string reason;
  std::optional<ProducerId> producer;   // absent: any
  std::optional<SequenceKey> sequence;  // whose packets are missing, where that is known
  std::optional<uint64_t> records;
  std::optional<uint64_t> bytes;
  std::optional<uint64_t> from_ns;  // what is missing is from this time on,
  std::optional<uint64_t> to_ns;    // and up to this one

  bool Concerns(SequenceKey key) const {
    return sequence ? *sequence == key : !producer || *producer == key.producer;
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

/// The fate of a packet.
enum class Fate : uint8_t {
  kRead,           // a read pass returned it
  kReadable,       // still in the buffer: a clone read at the end would return it
  kStalled,        // still in the buffer, and waits for something
  kOverwritten,    // evicted before it was read
  kDiscarded,      // refused by the buffer or by the service
  kWriterDropped,  // its writer aborted it
  kCut,            // a chunk of it was never committed, or the buffer abandoned it
  kCorrupted,      // its bytes, or its chunk's, break the rules of the shared-memory ABI
  kIncomplete,     // not finished by its writer when the log ends
  kInvalid,        // returned, and then refused by the service's validation
  kUnexplained,    // not returned, and the engine does not report why (a plug-in)
  kReadBefore,     // of a clone: the session itself read it before the clone was made
  kMoved,          // in the buffer when a clone took that over: the clone has it
  kCleared,        // in the buffer when that was cleared for a clone
  kFolded,         // evicted before it was read, but a program (ProtoVM) took it into its state,
                   // before that was written into the trace
};
template <>
inline constexpr std::array kEnumNames<Fate> = {
    "read",           "readable",    "stalled",   "overwritten", "discarded",
    "writer_dropped", "cut",         "corrupted", "incomplete",  "invalid",
    "unexplained",    "read_before", "moved",     "cleared",     "folded"};
inline constexpr size_t kFates = kEnumNames<Fate>.size();
/// Returns true if the packet is gone for good: everything but read (by whomever), readable,
/// stalled, moved into a clone, folded into a state, and incomplete.
bool IsLoss(Fate fate);

/// Why, in more detail than the fate.
enum class Cause : uint8_t {
  kNone,             // read, readable, folded
  kEvicted,          // overwritten: `culprit` needed the space
  kAwaitedPatch,     // overwritten by `culprit`: no read could return it, as its chunk `waits_for`
                     // lacked a patch
  kBehindStall,      // likewise: its sequence waited at `waits_for`
  kSealed,           // discarded: a buffer that discards was full before
  kFull,             // discarded: this very chunk did not fit any more
  kTooLarge,         // discarded: the chunk is larger than the buffer allows
  kAlreadyConsumed,  // discarded: this chunk or a newer one of its sequence was consumed before
  kBadRecommit,      // discarded: the chunk was re-committed in a way that breaks the rules
  kNoSharedMemory,   // discarded by the service: the shared memory was not set up yet
  kNoSuchPage,       // discarded by the service: a page outside the shared memory
  kNoSuchBuffer,     // discarded by the service: the buffer is not set up
  kMayNotWrite,      // discarded by the service: no permission for the buffer
  kAborted,          // writer_dropped
  kNeverCommitted,   // cut: a chunk of it is not in the log
  kNotInLog,         // cut: likewise, but the log itself reports that it is not complete there
  kNoBeginning,      // cut: it continues a packet that no chunk before it begins
  kBeforeLog,        // cut: it began before the first chunk of its sequence in the log
  kBrokenChain,      // cut: the next chunk of the sequence does not continue it
  kReadGap,          // cut: abandoned at a gap in the chunk ids
  kGivenUp,          // cut: abandoned for another reason, see `loss_bit`
  kBrokenSize,       // corrupted: a fragment's size is no number, or reaches beyond its chunk
  kResent,           // corrupted: the chunk was re-committed with other bytes, or its id used again
  kWaitsForPatch,    // stalled: `waits_for` has not all its patches
  kWaitsForChunk,    // stalled: the chunk after `waits_for` was not committed
  kWaitsForCompletion,  // stalled: the writer still had `waits_for` when it was scraped
  kBehindGivenUp,       // stalled: even a read would not return it, but abandon it
  kUnfinished,          // incomplete: its writer did not commit the rest
  kScraped,             // incomplete: its writer had not finished it when its chunk was scraped
  kRejected,            // invalid
  kTakenBySession,      // read_before
  kTransferred,         // moved: the buffer's config has transfer_on_clone
  kClearedForClone,     // cleared: the buffer's config has clear_before_clone
  kWrongPatch,          // invalid: a patch (see `blamed`) changed it, though it was complete
  kUnknown,             // unexplained, discarded or stalled: the engine does not report why
};
template <>
inline constexpr std::array kEnumNames<Cause> = {"none",
                                                 "evicted",
                                                 "awaited_patch",
                                                 "behind_stall",
                                                 "sealed",
                                                 "full",
                                                 "too_large",
                                                 "already_consumed",
                                                 "bad_recommit",
                                                 "no_shared_memory",
                                                 "no_such_page",
                                                 "no_such_buffer",
                                                 "may_not_write",
                                                 "aborted",
                                                 "never_committed",
                                                 "not_in_log",
                                                 "no_beginning",
                                                 "before_log",
                                                 "broken_chain",
                                                 "read_gap",
                                                 "abandoned",
                                                 "broken_size",
                                                 "resent",
                                                 "waits_for_patch",
                                                 "waits_for_chunk",
                                                 "waits_for_completion",
                                                 "after_abandoned",
                                                 "unfinished",
                                                 "scraped",
                                                 "rejected",
                                                 "taken_by_session",
                                                 "transferred",
                                                 "cleared_for_clone",
                                                 "wrong_patch",
                                                 "unknown"};

/// Returns true if the service refused the discarded packet, so that no buffer could have kept it.
constexpr bool IsByService(Cause cause) {
  return cause >= Cause::kNoSharedMemory && cause <= Cause::kMayNotWrite;
}

/// A packet that was written, and what became of it.
struct PacketAccount {
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

  Fate fate = Fate::kRead;
  Cause cause = Cause::kNone;
  /// All its fragments were in the buffer, whole and patched, when the buffer abandoned it: lost to
  /// a bug of this buffer version.
  bool own_fault = false;
  LogMoment decided;       // when the fate was decided; for stalled: since when it waits
  uint32_t pass = 0;       // read, invalid: in which read pass of its buffer, from 1
  uint64_t position = 0;   // read, invalid: which packet of that pass it was, from 1
  uint32_t loss_bits = 0;  // read, invalid: what it carried; cut: why it was abandoned
  /// Overwritten, folded: the commit that needed the space. Already consumed: the chunk of its
  /// sequence that left the buffer before.
  std::optional<ChunkName> culprit;
  /// Stalled, awaited patch, behind a stall: the chunk at which its sequence waits.
  std::optional<ChunkName> waits_for;
  /// When that which is to blame happened: the commit of `waits_for`; already consumed: the read,
  /// or the commit, with which `culprit` left the buffer; wrong patch, broken size: the patch.
  LogMoment blamed;
};

/// Receives the ledger's entries. Per packet written exactly one, when its fate is decided; within
/// a sequence mostly, but not always, in order.
class LedgerSink {
 public:
  virtual ~LedgerSink() = default;
  /// A chunk is committed, to a buffer or in vain: before what becomes of its packets is reported,
  /// and before the replay's other listeners get it (ReplayListener::OnChunk).
  virtual void OnChunkWritten(BufferId, WrittenCommit&) {}
  virtual void OnPacketFate(const PacketAccount&) {}
  /// A packet that was read before was returned again. It is not counted among the fates.
  virtual void OnDuplicate(const PacketAccount&) {}
  /// A patch changed a fragment that its writer had completed, or broke the chunk.
  virtual void OnWrongPatch(BufferId, ChunkName) {}
  /// The buffer refused a chunk that was committed before, and every packet in it was known.
  virtual void OnRepeatedCommit() {}
  /// The chunk (its id unwrapped) left the buffer and is forgotten: nothing more is reported of the
  /// packets that are in it alone. Not called at the log's end.
  virtual void OnChunkForgotten(BufferId, SequenceKey, uint64_t /*chunk*/) {}
};

/// Hands the ledger's entries to several sinks, in this order. They are not owned.
class LedgerSinks : public LedgerSink {
 public:
  explicit LedgerSinks(std::vector<LedgerSink*> sinks) : sinks_(std::move(sinks)) {}

  void OnChunkWritten(BufferId buffer, WrittenCommit& commit) override {
    for (LedgerSink* sink : sinks_) sink->OnChunkWritten(buffer, commit);
  }
  void OnPacketFate(const PacketAccount& account) override {
    for (LedgerSink* sink : sinks_) sink->OnPacketFate(account);
  }
  void OnDuplicate(const PacketAccount& account) override {
    for (LedgerSink* sink : sinks_) sink->OnDuplicate(account);
  }
  void OnWrongPatch(BufferId buffer, ChunkName chunk) override {
    for (LedgerSink* sink : sinks_) sink->OnWrongPatch(buffer, chunk);
  }
  void OnRepeatedCommit() override {
    for (LedgerSink* sink : sinks_) sink->OnRepeatedCommit();
  }
  void OnChunkForgotten(BufferId buffer, SequenceKey sequence, uint64_t chunk) override {
    for (LedgerSink* sink : sinks_) sink->OnChunkForgotten(buffer, sequence, chunk);
  }

 private:
  const std::vector<LedgerSink*> sinks_;
};

using FateCount = PacketCount;

/// Packets by fate.
struct FateCounts : std::array<FateCount, kFates> {
  using std::array<FateCount, kFates>::operator[];
  FateCount& operator[](Fate fate) { return (*this)[static_cast<size_t>(fate)]; }
  const FateCount& operator[](Fate fate) const { return (*this)[static_cast<size_t>(fate)]; }
  FateCounts& operator+=(const FateCounts& other);
  FateCount all() const;
  FateCount lost() const;
  /// Not read, and not lost: still in the buffer, or not finished by its writer.
  FateCount left() const;
  /// Of clones: what the session itself read, or what another reader has.
  FateCount elsewhere() const;
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
  explicit Ledger(LedgerSink& sink);
  ~Ledger() override;

  /// By buffer. Complete once all buffers were drained.
  const std::map<BufferId, LedgerTotals>& totals() const { return totals_; }
  /// What does not add up, as a warning; empty if all does. After the end. Anything else than empty
  /// is a bug in ringscope.
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

  LedgerSink& sink_;
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
