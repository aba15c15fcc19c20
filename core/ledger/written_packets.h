// The packets written to one buffer, reassembled from the commits alone, as if the buffer were
// endless. What the buffer did with them is the ledger's subject (buffer_ledger.h).
//
//     chunk #6              chunk #7            chunk #8
//     [ whole | begin ─┐]   [┌─ continue ─┐]    [┌─ end | whole ]     records, with an Entry each
//                  tail└─────┴ head = tail └─────┴ head
//                        one Chain: 3 fragments, front and back closed
//
// It holds a ChunkRecord for each chunk that is in the buffer or may be re-committed, with an Entry
// for each fragment. A whole packet has its state in its entry. A packet in fragments is a Chain; a
// record has it as `tail` if it continues in the next chunk, as `head` if the first fragment
// continues it. Chunks arrive in any order, so a chain grows at both ends: it awaits its next or
// previous chunk by name. When the chunk between two chains arrives, the later chain is merged into
// the earlier one, and stays as a signpost to it until no record refers to it.
//
// Calls of a commit, after the buffer or the service has answered it:
//     Begin          finds or makes the record; compares a re-commit with what is known
//     SetHeld        if the buffer took it
//     AddFragments   adds the entries that are new, and links their chains
//     LoseInPlace    of a re-commit with other bytes: packets that no entry has
//     End            adds what follows the fragments (an aborted packet, bytes that make no sense),
//                    and closes chains whose neighbour is there and does not continue them
// Later: SetHeld, CheckPatches and ReadPatched as the chunk changes, Forget when it cannot be
// re-committed any more.
//
// Between the calls:
// - Entries are in order of their offsets; records and chains refer to each other: `refs` of a
//   chain is the number of its fragments in records, and of signposts to it.
// - A chain is closed at an end if the packet begins or ends there, or if its neighbour there does
//   not continue it: then it is lost (WriterLosses::LoseChain).
// - `fragments_held` and `fragments_unpatched` follow the records' `held` and `needs_patch`.
// - count() is the number of packets begun so far. Two chains that are joined were counted twice.
// Memory: O(chunk records + packets whose fragments are not all there).

#ifndef RINGSCOPE_CORE_LEDGER_WRITTEN_PACKETS_H_
#define RINGSCOPE_CORE_LEDGER_WRITTEN_PACKETS_H_

#include <unordered_map>

#include "core/base/interval_set.h"
#include "core/ledger/ledger.h"

namespace ringscope::ledger {

/// The state of a packet in the ledger.
enum class State : uint8_t {
  kLive,  // can still be delivered
  kLost,  // lost as far as known; reported once nothing can bring it back
  kRead,  // returned (or found readable) and reported
  kGone,  // lost and reported, or nothing to report
};

using ChainId = uint32_t;
inline constexpr ChainId kNoChain = UINT32_MAX;

/// A packet in several fragments, as far as its chunks were committed.
struct Chain {
  PacketAccount account;  // with the fate, once lost
  State state = State::kLive;
  bool has_begin = false;
  bool has_end = false;
  // Nothing can be added at its front or back: that is the packet's, or its neighbour there does
  // not continue it.
  bool front_closed = false;
  bool back_closed = false;
  ChunkName awaits_next;           // if open at its back
  LogMoment preceded;              // its sequence's last commit before it
  bool abandoned_at_end = false;   // the drain abandoned it
  std::optional<Cause> violation;  // its writer broke a rule: if it is lost, it is corrupted
  uint32_t fragments = 0;
  uint32_t fragments_held = 0;       // in the buffer
  uint32_t fragments_unpatched = 0;  // in chunks that need patching
  uint32_t refs = 0;                 // chunk records that have a fragment of it
  ChainId merged_into = kNoChain;

  bool reported() const { return state == State::kRead || state == State::kGone; }
  bool closed() const { return front_closed && back_closed; }
  bool whole() const { return has_begin && has_end; }
  /// All of it is in the buffer, and patched.
  bool deliverable() const {
    return whole() && fragments_held == fragments && fragments_unpatched == 0 && !violation;
  }
};

/// All packets in fragments of one buffer, linked over neighbouring chunks.
class Chains {
 public:
  ChainId New();
  /// Returns the chain that this one was merged into, or itself.
  ChainId Find(ChainId id);
  Chain& operator[](ChainId id) { return chains_[Find(id)]; }
  void Release(ChainId id);
  void Free(ChainId id);

  /// The chain continues in this chunk, once that is committed.
  void AwaitNext(ChunkName chunk, ChainId id);
  /// The chain begins in this chunk or before it, once that is committed.
  void AwaitPrevious(ChunkName chunk, ChainId id);
  /// Takes the chain that waits for this chunk as its next (previous) one; kNoChain: none does.
  ChainId TakeAwaitingNext(ChunkName chunk) { return Take(awaiting_next_, chunk); }
  ChainId TakeAwaitingPrevious(ChunkName chunk) { return Take(awaiting_previous_, chunk); }

  void Merge(ChainId earlier, ChainId later);

  /// Calls visit(ChainId, Chain&) for each chain that is not reported yet.
  template <typename Visit>
  void VisitOpen(Visit visit) {
    for (ChainId id = 0; id < chains_.size(); ++id) {
      Chain& chain = chains_[id];
      const bool open = chain.state == State::kLive || chain.state == State::kLost;
      if (chain.fragments > 0 && chain.merged_into == kNoChain && open) visit(id, chain);
    }
  }
  /// Signposts that all calls of Find together have passed.
  uint64_t passed() const { return passed_; }
  /// Chains in memory.
  size_t size() const { return chains_.size() - free_.size(); }

 private:
  using Waiting = std::unordered_map<ChunkName, ChainId>;
  static ChainId Take(Waiting& waiting, ChunkName chunk);

  std::vector<Chain> chains_;
  std::vector<ChainId> free_;
  std::vector<ChainId> path_;  // scratch
  uint64_t passed_ = 0;
  Waiting awaiting_next_;
  Waiting awaiting_previous_;
};

/// A fragment of a chunk. What became of a packet in fragments is in its chain.
struct Entry {
  uint32_t offset = 0;  // of its size varint
  uint32_t size = 0;
  FragmentKind kind = FragmentKind::kWhole;
  State state = State::kLive;     // of a whole packet
  bool abandoned_at_end = false;  // the reading out at the log's end abandoned it
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

  /// The chain of the packet that a fragment begins or continues; kNoChain: a whole packet's.
  ChainId ChainOf(const Entry& entry) const {
    if (entry.kind == FragmentKind::kWhole) return kNoChain;
    return entry.kind == FragmentKind::kBegin ? tail : head;
  }
};

/// Receives the losses that the commits alone decide.
class WriterLosses {
 public:
  virtual ~WriterLosses() = default;
  /// The packet in fragments cannot be delivered any more.
  virtual void LoseChain(ChainId id, const Decision& loss) = 0;
  /// A packet that its writer aborted, or that makes no sense; complete but for the moment.
  virtual void AddLost(PacketAccount& account, const Decision& loss) = 0;
};

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
  /// A commit on its way in.
  struct Arrival {
    const WrittenCommit& written;
    const ChunkCommit& commit;
    ChunkName key;
    Sequence& sequence;
    ChunkRecord& record;
    size_t known = 0;  // entries that it had before
    bool is_new = false;
    bool differs = false;     // the chunk is known, and was committed with other bytes
    bool is_reused = false;   // as it differs, or is new, though it was committed whole before
    LogMoment preceded = {};  // the last commit of its sequence
  };

  /// @param now the record under way; must outlive this, like `losses`
  /// @param reads_facts else the accounts have none
  WrittenPackets(BufferId id, const LogMoment& now, WriterLosses& losses, bool reads_facts = true)
      : id_(id), now_(now), losses_(losses), reads_facts_(reads_facts) {}

  PacketFacts FactsOf(Bytes packet, SizesAre sizes = SizesAre::kThere) const {
    return reads_facts_ ? ReadPacketFacts(packet, nullptr, sizes) : PacketFacts();
  }
  /// The facts of the packet that begins at this offset of a chunk's payload.
  /// @param payload empty: not at hand, and nothing is known
  PacketFacts FactsAt(Bytes payload, uint32_t offset, SizesAre sizes = SizesAre::kThere) const {
    return FactsOf(BodyAt(payload, offset).value_or(Bytes()), sizes);
  }

  /// @param written must outlive the Arrival
  Arrival Begin(const WrittenCommit& written);
  /// Adds the fragments that are not known yet.
  /// @param consumed bytes of the chunk that the buffer takes as consumed, and has accounted for
  void AddFragments(const Arrival& arrival, uint32_t consumed);
  /// The buffer has, or had, another chunk under the id: a whole packet that is in the place of
  /// another one is lost.
  void LoseInPlace(const Arrival& arrival, size_t fragment, const Decision& loss);
  void End(const Arrival& arrival);
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
  /// @return the chains that had fragments in it; may be kNoChain
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
  /// Packets written so far. The ledger corrects it by what the buffer returns.
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
  void LinkFront(const Arrival& arrival, size_t index);
  void LinkBack(const Arrival& arrival, size_t index);
  void LinkNeighbours(const Arrival& arrival);
  ChainId StartChain(const Arrival& arrival, size_t index);
  void AddToChain(ChainId id, const ChunkRecord& record, size_t index);
  void Join(ChainId earlier, ChainId later);
  void OpenFront(const Arrival& arrival, ChainId id);
  void OpenBack(const Arrival& arrival, ChainId id);
  void Close(ChainId id, bool Chain::*end);
  bool IsCommitted(const Sequence& sequence, ChunkName key, uint64_t id) const;
  void Count(uint64_t bytes) { count_ += {1, bytes}; }

  const BufferId id_;
  const LogMoment& now_;
  WriterLosses& losses_;
  const bool reads_facts_;
  SequenceMap<Sequence> sequences_;
  Records records_;
  Chains chains_;
  FateCount count_;
  std::vector<ChainId> touched_;
  uint64_t compared_ = 0;
};

}  // namespace ringscope::ledger

#endif  // RINGSCOPE_CORE_LEDGER_WRITTEN_PACKETS_H_
