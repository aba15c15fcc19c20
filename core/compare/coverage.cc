#include "core/compare/coverage.h"

namespace ringscope {
namespace {

/// Whether the branches from `first` on are those of an enum, or start with them: in its order.
template <typename Names>
consteval bool AreInOrder(size_t first, std::string_view branch_class, const Names& names) {
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string_view branch = kBranches.at(first + i).name;
    if (branch.substr(0, branch_class.size()) != branch_class ||
        branch.substr(branch_class.size()) != names[i])
      return false;
  }
  return true;
}
static_assert(AreInOrder(IndexOfBranch("discard.sealed"), "discard.", kEnumNames<DiscardReason>));
static_assert(AreInOrder(IndexOfBranch("patch.no_such_chunk"), "patch.", kEnumNames<PatchMiss>));
static_assert(AreInOrder(IndexOfBranch("stall.needs_patch"), "stall.", kEnumNames<StallReason>));

/// Producers set the last one, no buffer does.
constexpr size_t kBufferLossBits = kLossBitNames.size() - 1;
consteval bool LossBitsAreInOrder() {
  for (size_t i = 0; i < kBufferLossBits; ++i) {
    const std::string_view branch = kBranches.at(IndexOfBranch("loss.read_gap") + i).name;
    if (branch.substr(std::string_view("loss.").size()) != kLossBitNames[i].name) return false;
  }
  return kLossBitNames[kBufferLossBits].bit == kLossSmbFull;
}
static_assert(LossBitsAreInOrder());

}  // namespace

BranchCounts& BranchCounts::operator+=(const BranchCounts& other) {
  for (size_t i = 0; i < size(); ++i) (*this)[i] += other[i];
  return *this;
}

void BranchCounter::OnCommitted(const ObservedChunk& chunk) {
  Count<IndexOfBranch("commit.complete")>(chunk.incomplete ? 1 : 0);
  if (chunk.payload_avail < chunk.payload_size) Count<IndexOfBranch("recommit.readmitted")>();
}

void BranchCounter::OnRewritten(const ObservedChunk& chunk) {
  Count<IndexOfBranch("recommit.scraped_again")>(chunk.incomplete ? 0 : 1);
}

void BranchCounter::OnLossBit(SequenceKey, ChunkId, uint32_t bit) {
  for (size_t i = 0; i < kBufferLossBits; ++i)
    if ((bit & kLossBitNames[i].bit) != 0) Count<IndexOfBranch("loss.read_gap")>(i);
}

FuzzCoverage& FuzzCoverage::operator+=(const FuzzCoverage& other) {
  for (const Side side : kSides) branches[side] += other.branches[side];
  for (size_t i = 0; i < rules.size(); ++i) rules[i] += other.rules[i];
  rule_streams += other.rule_streams;
  return *this;
}

}  // namespace ringscope
