#ifndef RINGSCOPE_CORE_LEDGER_WRITTEN_PACKETS_H_
#define RINGSCOPE_CORE_LEDGER_WRITTEN_PACKETS_H_

#include <array>
#include <optional>
#include <vector>

#include "core/base/interval_set.h"
#include "core/base/sequence_map.h"
#include "core/ledger/ledger_chains.h"

namespace ringscope::ledger {

/// A fragment of a chunk. What became of a packet in fragments is in its chain.
struct Entry {
  uint32_t offset = 0;  // of its size varint
  uint32_t size = 0;
  FragmentKind kind = FragmentKind::kWhole;
  State state = State::kLive;     // of a whole packet
  bool abandoned_at_end = false;  // the reading out at the log's end abandoned it
};

/// Why something is lost.
struct Loss {
  Fate fate = Fate::kUnexplained;
  Cause cause = Cause::kNone;
  std::optional<ChunkName> culprit;
  uint32_t loss_bits = 0;
  LogMoment blamed = {};
};

/// A whole packet that was lost, and not reported yet.
struct LostEntry {
  uint32_t fragment = 0;
  uint32_t loss = 0;  // index
  PacketFacts facts;
};

/// A patch that broke a chunk, or that changed a fragment which its writer had completed: patches
/// are for a chunk's last one.
struct WrongPatch {
  std::optional<size_t> fragment;  // absent: the chunk's fragments do not fit any more
  LogMoment at;
};

/// A chunk that is in the buffer, or that may be re-committed.
struct ChunkRecord {
  uint64_t id = 0;  // unwrapped
  uint32_t bytes = 0;
  uint32_t unfinished_bytes = 0;
  uint64_t hash = 0;  // of its first `bytes`, to recognize it when it is re-committed
  bool complete = false;
  bool held = false;  // in the buffer
  bool needs_patch = false;
  bool blocks = false;             // held, and reads of its sequence stop at it: a patch is missing
  bool evicted = false;            // recently: forgotten when many others have followed
  size_t evicted_packets = 0;      // lost ones when it left
  uint32_t evicted_bytes = 0;      // its bytes then
  std::optional<Cause> violation;  // its writer broke a rule: what is lost of it is corrupted
  ChainId head = kNoChain;
  ChainId tail = kNoChain;
  std::optional<ChunkName> evicted_for;  // the commit that needed its space last
  std::optional<ChunkName> blocked_by;  // the chunk that blocked its sequence when it was committed
  LogMoment written;
  std::vector<WrongPatch> wrong_patches;
  std::vector<Entry> entries;
  std::vector<PacketAccount> losses;  // what those have in common that were lost to the same
  std::vector<LostEntry> lost;        // in the order of their loss
};

/// Receives the losses that the commits alone decide.
class WriterLosses {
 public:
  virtual ~WriterLosses() = default;
  /// The packet in fragments cannot be delivered any more.
  virtual void LoseChain(ChainId id, const Loss& loss) = 0;
  /// A packet that its writer aborted, or that makes no sense; complete but for the moment.
  virtual void AddLost(PacketAccount& account, const Loss& loss) = 0;
};

/// The packets that were written to one buffer: reassembled from the commits, as if the buffer
/// were endless. Memory: O(chunk records + packets whose fragments are not all there).
class WrittenPackets {
 public:
  using Records = ChunkMap<ChunkRecord>;

  struct Sequence {
    ChunkIdUnwrapper ids;
    IntervalSet completed;        // unwrapped ids of chunks that were committed whole
    uint64_t first = UINT64_MAX;  // lowest id
    LogMoment committed;          // last
    // The chunk that left the buffer last, and when.
    std::optional<ChunkId> gone;
    LogMoment gone_at;
  };
  /// A commit on its way in: Begin, then AddFragments, then End.
  struct Arrival {
    const WrittenCommit& written;
    const ChunkCommit& commit;
    ChunkName key;
    Sequence& sequence;
    ChunkRecord& record;
    size_t known = 0;  // entries that it had before
    bool is_new = false;
    bool differs = false;     // the chunk is known, and was committed with other bytes
    LogMoment preceded = {};  // the last commit of its sequence
  };

  /// @param now the record under way; must outlive this, like `losses`
  WrittenPackets(BufferId id, const LogMoment& now, WriterLosses& losses)
      : id_(id), now_(now), losses_(losses) {}

  /// @param written must outlive the Arrival
  Arrival Begin(const WrittenCommit& written);
  /// Adds the fragments that are not known yet.
  /// @param consumed bytes of the chunk that the buffer takes as consumed, and has accounted for
  void AddFragments(const Arrival& arrival, uint32_t consumed);
  /// The buffer refused the chunk, and has another one under its id: the packets that are in the
  /// place of others are lost.
  void LoseRefused(const Arrival& arrival, const Loss& loss);
  void End(const Arrival& arrival);
  /// The chunk enters the buffer or leaves it, or has got all its patches.
  void SetHeld(ChunkRecord& record, bool held, bool needs_patch);
  /// The chunk has got all its patches: what the packet contains that begins at its end can be
  /// read.
  void ReadPatched(const ChunkRecord& record, Bytes payload);
  /// Notes which fragments of the chunk the patches broke, or should not have touched.
  /// Time: O(log fragments) for each patch. @return true if there are any
  bool CheckPatches(ChunkRecord& record, Bytes payload, const ChunkPatches& patches);
  /// Fragments that all calls of CheckPatches together have compared with patches.
  uint64_t compared() const { return compared_; }
  /// The patch with which the chunk's fragments did not fit any more; none: its commit.
  static LogMoment BrokenAt(const ChunkRecord& record);
  /// The patch that changed a fragment of the packet, though its writer had completed it; else
  /// nullptr.
  const LogMoment* WrongPatchOf(const PacketAccount& account) const;
  /// The chunk is not re-committed. @return the chains that had fragments in it; may be kNoChain
  std::array<ChainId, 2> Forget(ChunkName chunk);

  /// The account of the packet that begins with this fragment, but for its fate.
  PacketAccount AccountOf(SequenceKey sequence, const ChunkRecord& record, size_t index) const;
  /// Returns true if a packet begins with this fragment, as far as it is known.
  bool Begins(const Entry& entry, const ChunkRecord& record);
  const Sequence* FindSequence(SequenceKey key) const { return sequences_.Find(key); }
  Sequence& SequenceOf(SequenceKey key) { return sequences_[key]; }

  Records& records() { return records_; }
  const Records& records() const { return records_; }
  Chains& chains() { return chains_; }
  /// All that was written. What the buffer returns may correct it.
  FateCount& count() { return count_; }
  /// Visits the chains that changed since this was called last.
  template <typename Visit>
  void TakeTouched(Visit visit) {
    for (const ChainId id : touched_) visit(id);
    touched_.clear();
  }
  void Touch(ChainId id) { touched_.push_back(id); }

 private:
  static std::array<ChainId, 2> ChainsOf(const ChunkRecord& record);
  static bool CompareWithRecord(const WrittenCommit& written, ChunkRecord& record);
  void AddEnd(const Arrival& arrival);
  void LinkFront(const Arrival& arrival, size_t index, Bytes payload);
  void LinkBack(const Arrival& arrival, size_t index, Bytes payload);
  void LinkNeighbours(const Arrival& arrival);
  ChainId StartChain(const Arrival& arrival, size_t index, Bytes payload);
  void AddToChain(ChainId id, const ChunkRecord& record, size_t index);
  void Join(ChainId earlier, ChainId later);
  void CloseFront(ChainId id);
  void CloseBack(ChainId id);
  bool IsCommitted(const Sequence& sequence, ChunkName key, uint64_t id) const;
  void Count(uint64_t bytes) { count_ += {1, bytes}; }

  const BufferId id_;
  const LogMoment& now_;
  WriterLosses& losses_;
  SequenceMap<Sequence> sequences_;
  Records records_;
  Chains chains_;
  FateCount count_;
  std::vector<ChainId> touched_;
  uint64_t compared_ = 0;
};

}  // namespace ringscope::ledger

#endif  // RINGSCOPE_CORE_LEDGER_WRITTEN_PACKETS_H_
