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
                           uint64_t at_most)
    : report(all),
      is_filtered(filter.selects_gaps() || !filter.buffers.empty() || !filter.sequences.empty()),
      by_time(filter.from || filter.to),
      limit(at_most) {
  for (const BufferGaps& buffer : report.buffers) {
    for (const SequenceGaps& sequence : buffer.sequences) {
      if (!filter.Keeps(buffer.id, sequence.sequence)) continue;
      if (sequence.written().packets > 0) sequences.push_back(&sequence);
      unlisted += sequence.unlisted_gaps;
      unlisted_flags += sequence.unlisted_flags;
      for (const FalseFlag& flag : sequence.false_flags) false_flags.emplace_back(&sequence, &flag);
      if (!filter.selects_gaps()) {
        for (const MissingChunks& chunks : sequence.missing)
          missing.emplace_back(&sequence, &chunks);
        unlisted_missing += sequence.unlisted_missing;
        for (const FalseFlag& flag : sequence.false_flags)
          any_sign |= flag.rule != FlagRule::kV1First && flag.rule != FlagRule::kFolded;
        any_sign |= sequence.unlisted_flags > 0;
        any_sign |= sequence.missing_chunks > 0 || sequence.stall.has_value();
      }
      if (!filter.selects_gaps()) any_loss |= sequence.lost().packets > 0;
      for (const Gap& gap : sequence.gaps) {
        if (!filter.Keeps(gap, start_ns)) continue;
        any_loss = true;
        (gap.own_fault.packets > 0 ? own_fault : gaps).push_back(&gap);
      }
    }
  }
  for (const LostName& name : report.names)
    if (filter.Keeps(name.buffer, name.chunk.sequence)) names.push_back(name);
  for (const StaleSequence& sequence : report.stale)
    if (filter.Keeps(sequence.buffer, sequence.sequence)) stale.push_back(sequence);
  // A filter for packets selects nothing else.
  if (!filter.selects_gaps()) SelectSigns(filter);
  if (limit == 0) return;
  const uint64_t found = own_fault.size() + gaps.size();
  Limit(own_fault, limit);
  Limit(gaps, limit - own_fault.size());
  hidden = found - own_fault.size() - gaps.size();
}

void GapSelection::SelectSigns(const GapFilter& filter) {
  const bool all_selected = filter.buffers.empty() && filter.sequences.empty();
  for (const CounterRise& rise : report.counted) {
    const bool keeps = all_selected ||
                       (rise.buffer && rise.sequence && filter.Keeps(*rise.buffer, *rise.sequence));
    if (!keeps) continue;
    counted.push_back(&rise);
    counts[static_cast<size_t>(rise.counter)] += rise.amount;
  }
  if (all_selected) counts = report.counts;
  for (const ReportedLoss& loss : report.reported) {
    const bool keeps = all_selected || (loss.sequence && filter.KeepsSequence(*loss.sequence));
    if (keeps) reported.push_back(&loss);
  }
  if (all_selected) unlisted_reports = report.unlisted_reports;
  any_sign |= !reported.empty() || unlisted_reports > 0;
  for (const uint64_t count : counts) any_sign |= count > 0;
}

}  // namespace ringscope
