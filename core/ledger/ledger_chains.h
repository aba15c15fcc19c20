#ifndef RINGSCOPE_CORE_LEDGER_LEDGER_CHAINS_H_
#define RINGSCOPE_CORE_LEDGER_LEDGER_CHAINS_H_

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/perfetto/fragment.h"

namespace ringscope::ledger {

/// Where a packet stands in the ledger.
enum class State : uint8_t {
  kLive,    // can still be delivered
  kDoomed,  // lost as far as known; told to the sink once nothing can bring it back
  kRead,    // returned (or found readable) and told
  kGone,    // lost and told, or nothing to tell
};

// A chunk of one sequence of one buffer has its ChunkName::Packed() as a key.

constexpr ChunkName NameOf(uint64_t key) {
  const auto packed = static_cast<uint32_t>(key >> 32);
  return {
      {ProducerId{static_cast<uint16_t>(packed >> 16)}, WriterId{static_cast<uint16_t>(packed)}},
      ChunkId{static_cast<uint32_t>(key)}};
}
constexpr uint64_t NextKey(uint64_t key) {
  return (key & ~uint64_t{UINT32_MAX}) | static_cast<uint32_t>(key + 1);
}
constexpr uint64_t PreviousKey(uint64_t key) {
  return (key & ~uint64_t{UINT32_MAX}) | static_cast<uint32_t>(key - 1);
}

using ChainId = uint32_t;
inline constexpr ChainId kNoChain = UINT32_MAX;

/// A packet in pieces, as far as its chunks have come.
struct Chain {
  PacketAccount account;  // with the fate, once doomed
  State state = State::kLive;
  bool has_begin = false;
  bool has_end = false;
  // Nothing can be added at its front or back: that is the packet's, or its neighbour there does
  // not continue it. If open: the key of the chunk it waits for there.
  bool front_closed = false;
  bool back_closed = false;
  uint64_t awaits_previous = 0;
  uint64_t awaits_next = 0;
  bool given_up_at_end = false;  // the reading out at the log's end gave it up
  std::optional<Cause> taint;    // its writer broke a rule: if it is lost, it is corrupted
  uint32_t pieces = 0;
  uint32_t pieces_held = 0;       // in the buffer
  uint32_t pieces_unpatched = 0;  // in chunks that need patching
  uint32_t refs = 0;              // chunk records that have a piece of it
  ChainId merged_into = kNoChain;

  bool told() const { return state == State::kRead || state == State::kGone; }
  bool closed() const { return front_closed && back_closed; }
  bool whole() const { return has_begin && has_end; }
  /// All of it is in the buffer, and patched.
  bool deliverable() const {
    return whole() && pieces_held == pieces && pieces_unpatched == 0 && !taint;
  }
};

/// All packets in pieces of one buffer, linked over neighbouring chunks.
class Chains {
 public:
  /// A new chain with no piece yet.
  ChainId New();
  /// The chain that this one has become a part of, or itself.
  ChainId Find(ChainId id);
  Chain& operator[](ChainId id) { return chains_[Find(id)]; }
  /// A chunk record lets go of its piece. The chain itself stays until it is freed.
  void Release(ChainId id);
  void Free(ChainId id);

  /// The chain goes on in the chunk with this key, once that comes.
  void AwaitNext(uint64_t chunk, ChainId id);
  /// The chain goes back to the chunk with this key, once that comes.
  void AwaitPrevious(uint64_t chunk, ChainId id);
  /// Takes the chain that goes on in (goes back to) this chunk; kNoChain: none does.
  ChainId TakeAwaitingNext(uint64_t chunk) { return Take(awaiting_next_, chunk); }
  ChainId TakeAwaitingPrevious(uint64_t chunk) { return Take(awaiting_previous_, chunk); }

  /// `later` turns out to be the rest of `earlier`.
  void Merge(ChainId earlier, ChainId later);

  /// Calls visit(ChainId, Chain&) for each chain that is not told yet.
  template <typename Visit>
  void VisitOpen(Visit visit) {
    for (ChainId id = 0; id < chains_.size(); ++id) {
      Chain& chain = chains_[id];
      const bool open = chain.state == State::kLive || chain.state == State::kDoomed;
      if (chain.pieces > 0 && chain.merged_into == kNoChain && open) visit(id, chain);
    }
  }
  /// Chains in memory.
  size_t size() const { return chains_.size() - free_.size(); }

 private:
  using Waiting = std::unordered_map<uint64_t, ChainId>;
  static ChainId Take(Waiting& waiting, uint64_t chunk);

  std::vector<Chain> chains_;
  std::vector<ChainId> free_;
  std::vector<ChainId> path_;  // scratch
  Waiting awaiting_next_;
  Waiting awaiting_previous_;
};

}  // namespace ringscope::ledger

#endif  // RINGSCOPE_CORE_LEDGER_LEDGER_CHAINS_H_
