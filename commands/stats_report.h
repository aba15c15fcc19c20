#ifndef RINGSCOPE_COMMANDS_STATS_REPORT_H_
#define RINGSCOPE_COMMANDS_STATS_REPORT_H_

#include "commands/json_output.h"
#include "commands/replay_run.h"

namespace ringscope {

/// All counters of a replay for people: buffers side by side, the service, the writers' histograms.
void PrintStats(Console& console, const ReplayOutcome& outcome);

/// The same as an object.
Json StatsJson(const ReplayOutcome& outcome);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_STATS_REPORT_H_
