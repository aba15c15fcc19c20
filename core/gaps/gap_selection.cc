#include "core/gaps/gap_selection.h"

#include <algorithm>

namespace ringscope {
namespace {

template <typename T>
bool IsIn(const std::vector<T>& list, T value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}

bool IsInTime(const GapFilter& filter, std::optional<uint64_t> first, std::optional<uint64_t> last,
              uint64_t start_ns) {
  if (filter.from && !(last && *last >= filter.from->Absolute(start_ns))) return false;
  return !filter.to || (first && *first <= filter.to->Absolute(start_ns));
}

}  // namespace

bool GapFilter::Keeps(BufferId buffer, SequenceKey sequence) const {
  return IsIn(buffers, buffer) && IsIn(sequences, sequence);
}

bool GapFilter::Keeps(const Gap& gap, uint64_t start_ns) const {
  return Keeps(gap.buffer, gap.sequence) &&
         IsInTime(*this, gap.written.first.time_ns, gap.written.last.time_ns, start_ns);
}

bool GapFilter::Keeps(const PacketAccount& account, uint64_t start_ns) const {
  return Keeps(account.buffer, account.sequence) &&
         IsInTime(*this, account.written.time_ns, account.written.time_ns, start_ns);
}

GapSelection::GapSelection(const GapReport& all, uint64_t start_ns, const GapFilter& filter)
    : report(all),
      is_filtered(filter.selects_gaps() || !filter.buffers.empty() || !filter.sequences.empty()),
      by_time(filter.selects_gaps()) {
  for (const BufferGaps& buffer : report.buffers)
    for (const SequenceGaps& sequence : buffer.sequences)
      if (filter.Keeps(buffer.id, sequence.sequence)) AddSequence(sequence, start_ns, filter);
  for (const StaleSequence& sequence : report.stale)
    if (filter.Keeps(sequence.buffer, sequence.sequence)) stale.push_back(sequence);
  // A filter by time selects nothing else.
  if (!filter.selects_gaps()) AddSigns(filter);
}

void GapSelection::AddSequence(const SequenceGaps& sequence, uint64_t start_ns,
                               const GapFilter& filter) {
  if (sequence.written().packets > 0) sequences.push_back(&sequence);
  unlisted += sequence.unlisted_gaps;
  unlisted_flags += sequence.unlisted_flags;
  for (const FalseFlag& flag : sequence.false_flags) false_flags.emplace_back(&sequence, &flag);
  for (const Gap& gap : sequence.gaps) {
    if (!filter.Keeps(gap, start_ns)) continue;
    any_loss = true;
    (gap.own_fault.packets > 0 ? own_fault : gaps).push_back(&gap);
  }
  if (filter.selects_gaps()) return;
  any_loss |= sequence.lost().packets > 0;
  for (const MissingChunks& chunks : sequence.missing) missing.emplace_back(&sequence, &chunks);
  unlisted_missing += sequence.unlisted_missing;
  any_sign |= sequence.unlisted_flags > 0 || sequence.missing_chunks > 0 || sequence.stall ||
              std::ranges::any_of(sequence.false_flags, [](const FalseFlag& flag) {
                return flag.rule != FlagRule::kV1First && flag.rule != FlagRule::kFolded;
              });
}

void GapSelection::AddSigns(const GapFilter& filter) {
  for (const CounterRise& rise : report.counted) {
    if (is_filtered &&
        !(rise.buffer && rise.sequence && filter.Keeps(*rise.buffer, *rise.sequence)))
      continue;
    counted.push_back(rise);
    if (!rise.is_harmless()) counts[static_cast<size_t>(rise.counter)] += rise.amount;
  }
  // The buffer of a reported loss is not known.
  for (const ReportedLoss& loss : report.reported)
    if (!is_filtered ||
        (loss.sequence && filter.buffers.empty() && IsIn(filter.sequences, *loss.sequence)))
      reported.push_back(loss);
  if (!is_filtered) {
    counts = report.counts;
    unlisted_reports = report.unlisted_reports;
  }
  any_sign |= !reported.empty() || unlisted_reports > 0 ||
              std::ranges::any_of(counts, [](uint64_t count) { return count > 0; });
}

}  // namespace ringscope
