#ifndef RINGSCOPE_COMMANDS_LOSSES_TRIED_REMEDIES_H_
#define RINGSCOPE_COMMANDS_LOSSES_TRIED_REMEDIES_H_

#include <optional>
#include <vector>

#include "commands/common/replay_run.h"
#include "core/gaps/gap_report.h"
#include "core/sweep/needed_sizes.h"

namespace ringscope {

/// What file_write_period_ms can be at least.
inline constexpr uint64_t kShortestReadPeriodNs = 100'000'000;

/// Remedies for all gaps of a session together.
struct TriedRemedies {
  std::vector<NeededSize> sizes;      // of buffers whose gaps a size remedies
  std::optional<uint64_t> period_ns;  // of reads, of all buffers; absent: none helps
  std::optional<TriedOutcome> with_period;
};

/// The remedies that a session's gaps call for, not tried yet. None for a log that lacks what was
/// lost: nothing can be said of what it does not have.
TriedRemedies RemediesFor(const GapReport& report, const ReplayOutcome& outcome);
/// Replays the session again, with each remedy.
/// @param selection the session, in inputs that can be read again
/// @param totals of its first replay
Status TryRemedies(Context& context, const SessionSelection& selection,
                   const ReplayChoices& choices, const std::map<BufferId, LedgerTotals>& totals,
                   TriedRemedies& remedies);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_LOSSES_TRIED_REMEDIES_H_
