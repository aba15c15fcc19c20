#include "core/sweep/needed_sizes.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/gaps/gaps.h"
#include "core/perfetto/page.h"
#include "core/session/counted_replay.h"

namespace ringscope {
namespace {

/// A replay to its end.
Result<std::map<BufferId, LedgerTotals>> AccountsOf(const SweepInput& input,
                                                    const ReplayOptions& config, Ledger& ledger,
                                                    std::vector<ReplayListener*> listeners) {
  ReplayOptions options = config;
  options.session.find_engine = input.find_engine;
  options.session.clone = input.clone;
  options.ahead = input.ahead;
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OpSource> ops, input.open());
  listeners.insert(listeners.begin(), &ledger);
  CountedReplay replay(std::move(options), std::move(listeners));
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, ops->Next());
    if (!op) break;
    RS_RETURN_IF_ERROR(replay.Apply(*op));
  }
  RS_RETURN_IF_ERROR(replay.Finish());
  return ledger.totals();
}

}  // namespace

TriedOutcome TriedOutcomeOf(const LedgerTotals& totals) {
  return {.lost = totals.lost().packets,
          .full = totals[Fate::kOverwritten].packets + totals[Fate::kDiscarded].packets,
          .waiting = totals[Fate::kStalled].packets};
}

std::vector<NeededSize> NeededSizes(const GapReport& report) {
  std::vector<NeededSize> sizes;
  for (const BufferGaps& buffer : report.buffers) {
    uint64_t size = 0;
    for (const SequenceGaps& sequence : buffer.sequences)
      for (const Gap& gap : sequence.gaps)
        size = std::max(size, gap.remedies.buffer_size.value_or(0));
    if (size > 0) sizes.push_back({.buffer = buffer.id, .size = size, .outcome = {}});
  }
  return sizes;
}

Status TryNeededSizes(const SizesReplay& replay, std::vector<NeededSize>& sizes) {
  constexpr int kTries = 4;
  std::map<BufferId, uint64_t> tried;
  for (const NeededSize& needed : sizes) tried[needed.buffer] = needed.size;
  for (int i = 0; i < kTries && !tried.empty(); ++i) {
    std::map<BufferId, uint64_t> all = tried;
    for (const NeededSize& needed : sizes) all.try_emplace(needed.buffer, needed.size);
    RS_ASSIGN_OR_RETURN(const auto totals, replay(all));
    for (NeededSize& needed : sizes) {
      const auto found = totals.find(needed.buffer);
      if (!tried.contains(needed.buffer) || found == totals.end()) {
        tried.erase(needed.buffer);
        continue;
      }
      const TriedOutcome outcome = TriedOutcomeOf(found->second);
      const bool helped = !needed.outcome || outcome.full < needed.outcome->full;
      if (helped) {
        needed.grown = i > 0;
        needed.size = all[needed.buffer];
        needed.outcome = outcome;
      }
      // Of a buffer that no size helps, the smallest that was as good counts.
      if (outcome.full == 0 || !helped)
        tried.erase(needed.buffer);
      else
        tried[needed.buffer] = PagesUp(needed.size / 2 * 3);
    }
  }
  return {};
}

Result<std::vector<NeededSize>> FindNeededSizes(const SweepInput& input,
                                                const ReplayOptions& config) {
  GapAnalysis gaps(/*stale_ns=*/UINT64_MAX);
  Ledger ledger(gaps);
  RS_ASSIGN_OR_RETURN(const auto totals, AccountsOf(input, config, ledger, {&gaps}));
  std::vector<NeededSize> sizes = NeededSizes(gaps.Finish(totals));
  const SizesReplay replay = [&](const std::map<BufferId, uint64_t>& with) {
    ReplayOptions options = config;
    for (const auto& [id, size] : with) options.session.buffers[id].size = size;
    LedgerSink nowhere;
    Ledger accounts(nowhere);
    return AccountsOf(input, options, accounts, {});
  };
  RS_RETURN_IF_ERROR(TryNeededSizes(replay, sizes));
  return sizes;
}

std::optional<uint64_t> NeededSizeOf(const std::vector<NeededSize>& sizes, BufferId buffer) {
  const auto found = std::ranges::find(sizes, buffer, &NeededSize::buffer);
  return found == sizes.end() ? std::nullopt : std::optional(found->size);
}

}  // namespace ringscope
