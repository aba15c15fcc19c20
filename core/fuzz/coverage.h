#ifndef RINGSCOPE_CORE_FUZZ_COVERAGE_H_
#define RINGSCOPE_CORE_FUZZ_COVERAGE_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "core/diff/log_diff.h"
#include "core/engine/engine.h"
#include "core/engine/v2_releases.h"
#include "core/perfetto/data_loss.h"

namespace ringscope {

/// What streams brought about inside an engine, as it reports it: which of its branches were taken
/// how often.
class BranchCounter : public EngineObserver {
 public:
  void OnCommitted(const ObservedChunk& chunk) override;
  void OnRewritten(const ObservedChunk& chunk) override;
  void OnRelocated(const ObservedChunk&) override { ++relocated_; }
  void OnDiscarded(const ChunkCommit&, DiscardReason reason) override {
    ++discarded_[static_cast<size_t>(reason)];
  }
  void OnEvicting(const ObservedChunk& chunk, const ChunkCommit&) override {
    ++(chunk.payload_avail == 0 ? evicted_read_ : evicted_);
  }
  void OnPatched(const ObservedChunk&, const ChunkPatches&) override { ++patched_; }
  void OnPatchMissed(const ObservedChunk*, const ChunkPatches&, PatchMiss miss) override {
    ++patch_missed_[static_cast<size_t>(miss)];
  }
  void OnPacketReturned(const Packet& packet) override {
    ++(packet.place.first_chunk == packet.place.last_chunk ? returned_ : reassembled_);
  }
  void OnPacketAbandoned(SequenceKey, const PacketPlace&, uint32_t) override { ++abandoned_; }
  void OnLossBit(SequenceKey, ChunkId, uint32_t bit) override;
  void OnWrap() override { ++wraps_; }
  void OnPadding(uint64_t, uint32_t) override { ++paddings_; }
  void OnStalled(SequenceKey, ChunkId, StallReason reason) override {
    ++stalled_[static_cast<size_t>(reason)];
  }

  /// Adds what was counted to `branches`, by the names of the branches: all of them.
  void AddTo(std::map<std::string, uint64_t>& branches) const;

 private:
  uint64_t committed_ = 0, scraped_ = 0, readmitted_ = 0;
  uint64_t rewritten_ = 0, completed_ = 0, relocated_ = 0;
  uint64_t evicted_ = 0, evicted_read_ = 0;
  uint64_t patched_ = 0, returned_ = 0, reassembled_ = 0, abandoned_ = 0;
  uint64_t wraps_ = 0, paddings_ = 0;
  std::array<uint64_t, kEnumNames<DiscardReason>.size()> discarded_{};
  std::array<uint64_t, kEnumNames<PatchMiss>.size()> patch_missed_{};
  std::array<uint64_t, kEnumNames<StallReason>.size()> stalled_{};
  std::array<uint64_t, kLossBitNames.size()> loss_bits_{};
};

/// What a run of many streams reached.
struct FuzzCoverage {
  Both<std::map<std::string, uint64_t>> branches;
  /// Streams whose results change if this rule alone is switched, of `rule_streams`.
  std::array<uint64_t, kNamedRules.size()> rules{};
  uint64_t rule_streams = 0;

  FuzzCoverage& operator+=(const FuzzCoverage& other);
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_FUZZ_COVERAGE_H_
