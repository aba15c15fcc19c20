#ifndef RINGSCOPE_CORE_LEDGER_LEDGER_CHAINS_H_
#define RINGSCOPE_CORE_LEDGER_LEDGER_CHAINS_H_

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/perfetto/fragment.h"

namespace ringscope::ledger {

/// What the ledger knows of a packet.
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
  /// A new chain with no fragment yet.
  ChainId New();
  /// The chain that this one has become a part of, or itself.
  ChainId Find(ChainId id);
  Chain& operator[](ChainId id) { return chains_[Find(id)]; }
  /// A chunk record releases its fragment. The chain itself stays until it is freed.
  void Release(ChainId id);
  void Free(ChainId id);

  /// The chain continues in this chunk, once that is committed.
  void AwaitNext(ChunkName chunk, ChainId id);
  /// The chain begins in this chunk or before it, once that is committed.
  void AwaitPrevious(ChunkName chunk, ChainId id);
  /// Takes the chain that waits for this chunk as its next (previous) one; kNoChain: none does.
  ChainId TakeAwaitingNext(ChunkName chunk) { return Take(awaiting_next_, chunk); }
  ChainId TakeAwaitingPrevious(ChunkName chunk) { return Take(awaiting_previous_, chunk); }

  /// `later` is really the rest of `earlier`.
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

}  // namespace ringscope::ledger

#endif  // RINGSCOPE_CORE_LEDGER_LEDGER_CHAINS_H_
