#include "commands/replays/tried_remedies.h"

#include "commands/plugin/plugin.h"
#include "commands/replays/muted_context.h"
#include "commands/replays/session_reads.h"
#include "commands/threads/listener_thread.h"
#include "commands/threads/sweep_workers.h"
#include "core/log/added_buffers.h"
#include "core/log/retarget.h"
#include "core/log/verdict.h"
#include "core/sweep/read_period.h"
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
    return std::make_unique<RetargetSource>(std::move(ops), choices.splits,
                                            ReleasesIn(choices.session));
  };
  input.find_engine = choices.session.find_engine;
  input.run_replays = SweepThreads(context);
  input.run_tape = ListenerThreads(context);
  input.ahead = LookAheadIn(context, session.SessionAlone());
  input.warn = [](const std::string&) {};  // the first replay printed what there is to warn of
  return input;
}

}  // namespace

TriedRemedies RemediesFor(const GapReport& report, const ReplayOutcome& outcome) {
  if (LossesBefore(outcome.verdicts) != nullptr) return {};
  return {NeedsOf(report), {}};
}

Status TryRemedies(Context& context, const SessionSelection& selection,
                   const ReplayChoices& choices, const std::map<BufferId, LedgerTotals>& totals,
                   TriedRemedies& remedies, KeptBatches* kept) {
  if (remedies.sizes.empty() && !remedies.read_period_ns) return {};
  MutedContext muted(context, MutedContext::Progress::kShown);
  RS_ASSIGN_OR_RETURN(SweepInput input, InputOf(muted.context(), selection, choices));
  input.kept = kept;
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
  if (!remedies.read_period_ns) return {};
  RS_ASSIGN_OR_RETURN(const TriedPeriod tried,
                      TryReadPeriods(input, config, *remedies.read_period_ns));
  remedies.read_period_ns = tried.period_ns;
  remedies.with_period = tried.sum();
  return {};
}

}  // namespace ringscope
