#include "core/gaps/gap_selection.h"

#include <algorithm>

namespace ringscope {
namespace {

/// Leaves the largest in, in the order in which they are.
void Limit(std::vector<const Gap*>& gaps, uint64_t limit) {
  if (gaps.size() <= limit) return;
  std::vector<const Gap*> largest = gaps;
  std::stable_sort(largest.begin(), largest.end(),
                   [](const Gap* a, const Gap* b) { return a->lost.packets > b->lost.packets; });
  largest.resize(limit);
  std::sort(largest.begin(), largest.end());
  std::erase_if(gaps, [&](const Gap* gap) {
    return !std::binary_search(largest.begin(), largest.end(), gap);
  });
}

}  // namespace

GapSelection::GapSelection(const GapReport& all, uint64_t start_ns, const GapFilter& filter,
                           uint64_t limit)
    : report(all) {
  for (const BufferGaps& buffer : report.buffers) {
    for (const SequenceGaps& sequence : buffer.sequences) {
      if (!filter.Keeps(buffer.id, sequence.sequence)) continue;
      if (sequence.written().packets > 0) sequences.push_back(&sequence);
      unlisted += sequence.unlisted_gaps;
      unlisted_flags += sequence.unlisted_flags;
      for (const FalseFlag& flag : sequence.false_flags) false_flags.emplace_back(&sequence, &flag);
      if (!filter.selects_gaps()) any_loss |= sequence.lost().packets > 0;
      for (const Gap& gap : sequence.gaps) {
        if (!filter.Keeps(gap, start_ns)) continue;
        any_loss = true;
        (gap.own_fault.packets > 0 ? own_fault : gaps).push_back(&gap);
      }
    }
  }
  if (limit == 0) return;
  const uint64_t found = own_fault.size() + gaps.size();
  Limit(own_fault, limit);
  Limit(gaps, limit - own_fault.size());
  hidden = found - own_fault.size() - gaps.size();
}

}  // namespace ringscope
