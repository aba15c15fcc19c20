#ifndef RINGSCOPE_COMMANDS_REPLAYS_TRIED_REMEDIES_H_
#define RINGSCOPE_COMMANDS_REPLAYS_TRIED_REMEDIES_H_

#include <optional>

#include "commands/replays/replay_run.h"
#include "core/gaps/gap_report.h"
#include "core/sweep/kept_batches.h"
#include "core/sweep/read_period.h"

namespace ringscope {

/// Remedies for all gaps of a session together.
struct TriedRemedies : GapNeeds {
  std::optional<TriedOutcome> with_period;  // of a replay with the read period, of all buffers
};

/// The remedies that a session's gaps call for, not tried yet. None for a log that lacks what was
/// lost: nothing can be said of what it does not have.
TriedRemedies RemediesFor(const GapReport& report, const ReplayOutcome& outcome);
/// Replays the session again, with each remedy.
/// @param selection the session, in inputs that can be read again
/// @param totals of its first replay
/// @param kept what that replay kept of what its buffers got; nullptr: nothing
Status TryRemedies(Context& context, const SessionSelection& selection,
                   const ReplayChoices& choices, const std::map<BufferId, LedgerTotals>& totals,
                   TriedRemedies& remedies, KeptBatches* kept = nullptr);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAYS_TRIED_REMEDIES_H_
