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

}  // namespace

TriedRemedies RemediesFor(const GapReport& report) {
  TriedRemedies remedies;
  bool period_helps = true;
  remedies.sizes = NeededSizes(report);
  for (const BufferGaps& buffer : report.buffers) {
    for (const SequenceGaps& sequence : buffer.sequences) {
      for (const Gap& gap : sequence.gaps) {
        const std::optional<uint64_t> period = gap.remedies.read_period_ns;
        if (period)
          remedies.period_ns = std::min(remedies.period_ns.value_or(UINT64_MAX), *period);
        else
          period_helps &= !gap.remedies.buffer_size;
      }
    }
  }
  // A read at the end of the period is too late for what is evicted right then.
  if (remedies.period_ns) *remedies.period_ns = (*remedies.period_ns - 1) / 1'000'000 * 1'000'000;
  if (!period_helps || remedies.period_ns < kShortestReadPeriodNs) remedies.period_ns.reset();
  return remedies;
}

Status TryRemedies(Context& context, const SessionSelection& selection,
                   const ReplayChoices& choices, TriedRemedies& remedies) {
  const SizesReplay replay = [&](const std::map<BufferId, uint64_t>& sizes) {
    ReplayChoices with_sizes = choices;
    for (const auto& [id, size] : sizes) with_sizes.session.buffers[id].size = size;
    return ReplayWith(context, selection, with_sizes);
  };
  RS_RETURN_IF_ERROR(TryNeededSizes(replay, remedies.sizes));
  if (remedies.period_ns) {
    ReplayChoices with_period = choices;
    with_period.reads = {ReadsMode::kEvery, *remedies.period_ns};
    RS_ASSIGN_OR_RETURN(const auto totals, ReplayWith(context, selection, with_period));
    LedgerTotals sum;
    for (const auto& [id, buffer] : totals) sum += buffer;
    remedies.with_period = TriedOutcomeOf(sum);
  }
  return {};
}

}  // namespace ringscope
