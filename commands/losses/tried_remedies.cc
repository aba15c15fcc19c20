#include "commands/losses/tried_remedies.h"

#include <algorithm>

#include "commands/common/muted_context.h"
#include "core/perfetto/page.h"

namespace ringscope {
namespace {

Result<std::map<BufferId, LedgerTotals>> ReplayWith(Context& context,
                                                    const SessionSelection& selection,
                                                    const ReplayChoices& choices) {
  MutedContext muted(context);
  SessionReader session(muted.context(), selection, "trying remedies");
  RS_RETURN_IF_ERROR(session.NextSession());
  LedgerSink nowhere;
  Ledger ledger(nowhere);
  RS_RETURN_IF_ERROR(ReplaySession(muted.context(), session, choices, {.ledger = &ledger}));
  return ledger.totals();
}

TriedOutcome OutcomeIn(const LedgerTotals& totals) {
  return {totals.lost().packets, totals[Fate::kStalled].packets};
}

}  // namespace

TriedRemedies RemediesFor(const GapReport& report) {
  TriedRemedies remedies;
  bool period_helps = true;
  for (const BufferGaps& buffer : report.buffers) {
    uint64_t size = 0;
    for (const SequenceGaps& sequence : buffer.sequences) {
      for (const Gap& gap : sequence.gaps) {
        size = std::max(size, gap.remedies.buffer_size.value_or(0));
        const std::optional<uint64_t> period = gap.remedies.read_period_ns;
        if (period)
          remedies.period_ns = std::min(remedies.period_ns.value_or(UINT64_MAX), *period);
        else
          period_helps &= !gap.remedies.buffer_size;
      }
    }
    if (size > 0) remedies.sizes.push_back({.buffer = buffer.id, .size = size});
  }
  // A read at the end of the period is too late for what is evicted right then.
  if (remedies.period_ns) *remedies.period_ns = (*remedies.period_ns - 1) / 1'000'000 * 1'000'000;
  if (!period_helps || remedies.period_ns < kShortestReadPeriodNs) remedies.period_ns.reset();
  return remedies;
}

Status TryRemedies(Context& context, const SessionSelection& selection,
                   const ReplayChoices& choices, TriedRemedies& remedies) {
  // What waits in a buffer takes space from what is written later, so a computed size can be too
  // small.
  constexpr int kTries = 4;
  bool too_small = !remedies.sizes.empty();
  for (int i = 0; i < kTries && too_small; ++i) {
    too_small = false;
    ReplayChoices with_sizes = choices;
    for (TriedSize& tried : remedies.sizes) {
      const bool grows = tried.outcome && tried.outcome->lost > 0;
      if (grows) tried.size = PagesUp(tried.size / 2 * 3);
      tried.grown |= grows;
      with_sizes.session.buffers[tried.buffer].size = tried.size;
    }
    RS_ASSIGN_OR_RETURN(const auto totals, ReplayWith(context, selection, with_sizes));
    for (TriedSize& tried : remedies.sizes) {
      const auto found = totals.find(tried.buffer);
      if (found != totals.end()) tried.outcome = OutcomeIn(found->second);
      too_small |= tried.outcome && tried.outcome->lost > 0;
    }
  }
  if (remedies.period_ns) {
    ReplayChoices with_period = choices;
    with_period.reads = {ReadsMode::kEvery, *remedies.period_ns};
    RS_ASSIGN_OR_RETURN(const auto totals, ReplayWith(context, selection, with_period));
    LedgerTotals sum;
    for (const auto& [id, buffer] : totals) sum += buffer;
    remedies.with_period = OutcomeIn(sum);
  }
  return {};
}

}  // namespace ringscope
