#ifndef RINGSCOPE_COMMANDS_GAPS_LOGS_H_
#define RINGSCOPE_COMMANDS_GAPS_LOGS_H_

#include "commands/json_output.h"

namespace ringscope {

inline constexpr const char* kGapsLogs = "gaps_logs";

/// Many logs' losses, added up.
/// @param logs as RunEachLog returns them, with GapsJson's sessions
Json GapsTotals(const Json& logs);

/// The document of many logs for people: a line for each log, and totals.
void PrintGapsLogs(Console& console, const Json& document);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GAPS_LOGS_H_
