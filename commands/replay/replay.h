#ifndef RINGSCOPE_COMMANDS_REPLAY_REPLAY_H_
#define RINGSCOPE_COMMANDS_REPLAY_REPLAY_H_

#include <map>

#include "commands/view/report.h"
#include "core/ledger/ledger.h"
#include "core/session/replay_outcome.h"

namespace ringscope {

/// Reports what was written, read and lost, buffer by buffer.
/// @param accounts of the same replay: written = read + lost + left + elsewhere
void ReportReplay(Report& report, const ReplayOutcome& outcome,
                  const std::map<BufferId, LedgerTotals>& accounts);
/// Reports all counters of the buffers and of the service.
void ReportStats(Report& report, const ReplayOutcome& outcome);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAY_REPLAY_H_
