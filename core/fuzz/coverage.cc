#include "core/fuzz/coverage.h"

#include <fmt/format.h>

namespace ringscope {

void BranchCounter::OnCommitted(const ObservedChunk& chunk) {
  ++(chunk.incomplete ? scraped_ : committed_);
  readmitted_ += chunk.payload_avail < chunk.payload_size ? 1 : 0;
}

void BranchCounter::OnRewritten(const ObservedChunk& chunk) {
  ++(chunk.incomplete ? rewritten_ : completed_);
}

void BranchCounter::OnLossBit(SequenceKey, ChunkId, uint32_t bit) {
  for (size_t i = 0; i < kLossBitNames.size(); ++i)
    loss_bits_[i] += (bit & kLossBitNames[i].bit) != 0 ? 1 : 0;
}

void BranchCounter::AddTo(std::map<std::string, uint64_t>& branches) const {
  branches["commit.complete"] += committed_;
  branches["commit.scraped"] += scraped_;
  branches["recommit.readmitted"] += readmitted_;
  branches["recommit.scraped_again"] += rewritten_;
  branches["recommit.completed"] += completed_;
  branches["recommit.relocated"] += relocated_;
  branches["evict.unread"] += evicted_;
  branches["evict.consumed"] += evicted_read_;
  branches["patch.applied"] += patched_;
  branches["packet.whole"] += returned_;
  branches["packet.reassembled"] += reassembled_;
  branches["packet.abandoned"] += abandoned_;
  branches["wrap"] += wraps_;
  branches["padding"] += paddings_;
  for (size_t i = 0; i < discarded_.size(); ++i)
    branches[fmt::format("discard.{}", kEnumNames<DiscardReason>[i])] += discarded_[i];
  for (size_t i = 0; i < patch_missed_.size(); ++i)
    branches[fmt::format("patch.{}", kEnumNames<PatchMiss>[i])] += patch_missed_[i];
  for (size_t i = 0; i < stalled_.size(); ++i)
    branches[fmt::format("stall.{}", kEnumNames<StallReason>[i])] += stalled_[i];
  for (size_t i = 0; i < loss_bits_.size(); ++i) {
    // Producers set this one, no buffer does.
    if (kLossBitNames[i].bit != kLossSmbFull)
      branches[fmt::format("loss.{}", kLossBitNames[i].name)] += loss_bits_[i];
  }
}

FuzzCoverage& FuzzCoverage::operator+=(const FuzzCoverage& other) {
  for (const Side side : kSides)
    for (const auto& [name, count] : other.branches[side]) branches[side][name] += count;
  for (size_t i = 0; i < rules.size(); ++i) rules[i] += other.rules[i];
  rule_streams += other.rule_streams;
  return *this;
}

}  // namespace ringscope
