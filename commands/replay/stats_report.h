#ifndef RINGSCOPE_COMMANDS_REPLAY_STATS_REPORT_H_
#define RINGSCOPE_COMMANDS_REPLAY_STATS_REPORT_H_

#include "commands/replays/replay_run.h"
#include "commands/view/report.h"

namespace ringscope {

/// All counters of a replay: buffers side by side, the service, the writers' histograms.
void ReportStats(Report& report, const ReplayOutcome& outcome);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAY_STATS_REPORT_H_
