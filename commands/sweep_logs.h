#ifndef RINGSCOPE_COMMANDS_SWEEP_LOGS_H_
#define RINGSCOPE_COMMANDS_SWEEP_LOGS_H_

#include "commands/json_output.h"

namespace ringscope {

inline constexpr const char* kSweepLogs = "sweep_logs";

/// Many logs' sweeps, added up: for each configuration what all of them lost and the worst of them.
/// @param logs as RunEachLog returns them, with SweepJson's sessions
Json SweepTotals(const Json& logs);

/// The document of many logs for people: a line for each log, and totals.
void PrintSweepLogs(Console& console, const Json& document);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SWEEP_LOGS_H_
