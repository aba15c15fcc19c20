#include "commands/losses/tried_remedies.h"

#include <algorithm>

#include "commands/common/muted_context.h"
#include "commands/common/session_reads.h"
#include "commands/common/sweep_workers.h"
#include "commands/plugin/plugin.h"
#include "core/log/added_buffers.h"
#include "core/log/retarget.h"
#include "core/log/verdict.h"
#include "core/perfetto/page.h"
#include "core/sweep/sweep_run.h"

namespace ringscope {
namespace {

/// The session, with what is chosen about its replay.
Result<SweepInput> InputOf(Context& context, SessionSelection selection,
                           const ReplayChoices& choices) {
  constexpr const char* kActivity = "trying remedies in";
  SweepInput input;
  SessionReader session(context, selection, "");
  RS_RETURN_IF_ERROR(session.NextSession());
  if (session.clone() != nullptr) selection.view = *session.clone();
  input.clone = CloneOf(session, choices.splits);
  RS_ASSIGN_OR_RETURN(const UnrecordedBuffers unrecorded, UnrecordedOf(context, choices));
  std::vector<FoundRead> reads;
  if (!choices.reads.like.empty()) {
    RS_ASSIGN_OR_RETURN(const FoundReads found,
                        FindSessionReads(context, session.SessionAlone(), choices.reads.like));
    reads = found.reads;
  }
  input.open = [&context, selection, &choices, unrecorded,
                reads]() -> Result<std::unique_ptr<OpSource>> {
    RS_ASSIGN_OR_RETURN(std::unique_ptr<OpSource> ops, OpenSession(context, selection, kActivity));
    if (!reads.empty()) ops = std::make_unique<InsertedReads>(std::move(ops), reads);
    ops = std::make_unique<AddedBuffers>(std::move(ops), unrecorded);
    return std::make_unique<RetargetSource>(std::move(ops), choices.splits);
  };
  input.find_engine = choices.session.find_engine;
  input.run_lanes = SweepThreads(context);
  input.ahead = LookAheadIn(context, session.SessionAlone());
  input.warn = [](const std::string&) {};  // the first replay printed what there is to warn of
  return input;
}

}  // namespace

TriedRemedies RemediesFor(const GapReport& report, const ReplayOutcome& outcome) {
  TriedRemedies remedies;
  if (LossesBefore(outcome.verdicts) != nullptr) return remedies;
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
                   const ReplayChoices& choices, const std::map<BufferId, LedgerTotals>& totals,
                   TriedRemedies& remedies) {
  if (remedies.sizes.empty() && !remedies.period_ns) return {};
  MutedContext muted(context, MutedContext::Progress::kShown);
  RS_ASSIGN_OR_RETURN(const SweepInput input, InputOf(muted.context(), selection, choices));
  const OwnAccounts own{totals, choices.reads};
  ReplayOptions config = choices;
  config.moves_sequences = !choices.splits.empty();
  const SizesReplay replay =
      [&](const std::map<BufferId, uint64_t>& sizes) -> Result<std::map<BufferId, TriedOutcome>> {
    const ReplayOptions tried = WithSizes(config, sizes);
    RS_ASSIGN_OR_RETURN(const SweepResult result, RunSweep(input, {tried}));
    return OutcomesOf(input, tried, result.rows.front(), own);
  };
  RS_RETURN_IF_ERROR(TryNeededSizes(replay, remedies.sizes));
  if (!remedies.period_ns) return {};
  // A period that loses is too long: what was read shortly before its end is evicted then, too.
  constexpr int kTries = 8;
  uint64_t period_ns = *remedies.period_ns;
  for (int i = 0; i < kTries && period_ns >= kShortestReadPeriodNs; ++i) {
    config.reads = {ReadsMode::kStreamed, period_ns, {}};
    RS_ASSIGN_OR_RETURN(const auto outcomes, ReplayForOutcomes(input, config));
    TriedOutcome sum;
    for (const auto& [id, outcome] : outcomes) sum += outcome;
    if (!remedies.with_period || sum.full < remedies.with_period->full) {
      remedies.period_ns = period_ns;
      remedies.with_period = sum;
    }
    if (sum.full == 0) break;
    period_ns = period_ns / 16 * 15 / 1'000'000 * 1'000'000;
  }
  return {};
}

}  // namespace ringscope
