#ifndef RINGSCOPE_CORE_COMPARE_COVERAGE_H_
#define RINGSCOPE_CORE_COMPARE_COVERAGE_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "core/compare/log_diff.h"
#include "core/engine/engine.h"
#include "core/engine/v2_releases.h"
#include "core/perfetto/data_loss.h"

namespace ringscope {

/// A branch that an engine can take, as far as it reports that.
struct Branch {
  const char* name;     // "CLASS.NAME"
  const char* meaning;  // what happened, in a few words
};

/// All branches, class by class. Those of a class that comes from an enum are in its order.
inline constexpr std::array kBranches = {
    Branch{"commit.complete", "chunk committed, complete"},
    Branch{"commit.scraped", "chunk committed while its writer has it"},
    Branch{"recommit.scraped_again", "again while its writer has it, in place"},
    Branch{"recommit.completed", "completed in place"},
    Branch{"recommit.relocated", "completed and moved to the write cursor"},
    Branch{"recommit.readmitted", "again after its first part was read"},
    Branch{"discard.sealed", "discarded: the buffer was full before"},
    Branch{"discard.full", "discarded: fills the buffer"},
    Branch{"discard.too_large", "discarded: larger than the buffer"},
    Branch{"discard.already_consumed", "discarded: it or a newer one was read"},
    Branch{"discard.bad_recommit", "discarded: not what was committed before"},
    Branch{"discard.unknown", "discarded, reason not reported"},
    Branch{"wrap", "the write cursor wraps"},
    Branch{"padding", "padding written"},
    Branch{"evict.unread", "chunk evicted with something unread"},
    Branch{"evict.consumed", "chunk evicted that was read"},
    Branch{"patch.applied", "patches applied"},
    Branch{"patch.no_such_chunk", "patches for a chunk that is not there"},
    Branch{"patch.out_of_bounds", "patches outside the chunk"},
    Branch{"packet.whole", "packet returned, in one chunk"},
    Branch{"packet.reassembled", "packet returned, of several chunks"},
    Branch{"packet.abandoned", "packet or fragment abandoned by a read"},
    Branch{"stall.needs_patch", "reading waits for a patch"},
    Branch{"stall.missing_chunk", "reading waits for a chunk"},
    Branch{"stall.incomplete", "reading waits for a chunk's completion"},
    Branch{"loss.read_gap", "chunk ids are missing"},
    Branch{"loss.chunk_corrupted", "fragments that cannot be read"},
    Branch{"loss.orphan_continuation", "the rest of a packet, without its start"},
    Branch{"loss.reassembly_gap", "a packet's next chunk is missing"},
    Branch{"loss.reassembly_broken_chain", "the next chunk does not continue a packet"},
    Branch{"loss.overwrite", "something unread was overwritten"},
    Branch{"loss.writer_abort", "a packet that its writer aborted"},
};

/// Where a branch is in kBranches; it must be there.
consteval size_t IndexOfBranch(std::string_view name) {
  size_t i = 0;
  while (name != kBranches.at(i).name) ++i;
  return i;
}

/// How often each branch was taken.
struct BranchCounts : std::array<uint64_t, kBranches.size()> {
  BranchCounts() : array{} {}
  BranchCounts& operator+=(const BranchCounts& other);
};

/// What streams brought about inside an engine, as it reports it.
class BranchCounter : public EngineObserver {
 public:
  const BranchCounts& counts() const { return counts_; }

  void OnCommitted(const ObservedChunk& chunk) override;
  void OnRewritten(const ObservedChunk& chunk) override;
  void OnRelocated(const ObservedChunk&) override { Count<IndexOfBranch("recommit.relocated")>(); }
  void OnDiscarded(const ChunkCommit&, DiscardReason reason) override {
    Count<IndexOfBranch("discard.sealed")>(static_cast<size_t>(reason));
  }
  void OnEvicting(const ObservedChunk& chunk, const ChunkCommit&) override {
    Count<IndexOfBranch("evict.unread")>(chunk.payload_avail == 0 ? 1 : 0);
  }
  void OnPatched(const ObservedChunk&, const ChunkPatches&) override {
    Count<IndexOfBranch("patch.applied")>();
  }
  void OnPatchMissed(const ObservedChunk*, const ChunkPatches&, PatchMiss miss) override {
    Count<IndexOfBranch("patch.no_such_chunk")>(static_cast<size_t>(miss));
  }
  void OnPacketReturned(const Packet& packet) override {
    const PacketPlace& place = packet.place;
    Count<IndexOfBranch("packet.whole")>(place.first_chunk == place.last_chunk ? 0 : 1);
  }
  void OnPacketAbandoned(SequenceKey, const PacketPlace&, uint32_t) override {
    Count<IndexOfBranch("packet.abandoned")>();
  }
  void OnLossBit(SequenceKey, ChunkId, uint32_t bit) override;
  void OnWrap() override { Count<IndexOfBranch("wrap")>(); }
  void OnPadding(uint64_t, uint32_t) override { Count<IndexOfBranch("padding")>(); }
  void OnStalled(SequenceKey, ChunkId, StallReason reason) override {
    Count<IndexOfBranch("stall.needs_patch")>(static_cast<size_t>(reason));
  }

 private:
  /// @param next branches after the first one of a class
  template <size_t kFirst>
  void Count(size_t next = 0) {
    ++counts_[kFirst + next];
  }

  BranchCounts counts_;
};

/// What a run of many streams reached.
struct FuzzCoverage {
  Both<BranchCounts> branches;
  /// Streams whose results change if this rule alone is switched, of `rule_streams`.
  std::array<uint64_t, kNamedRules.size()> rules{};
  uint64_t rule_streams = 0;

  FuzzCoverage& operator+=(const FuzzCoverage& other);
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_COMPARE_COVERAGE_H_
