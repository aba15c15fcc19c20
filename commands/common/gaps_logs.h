#ifndef RINGSCOPE_COMMANDS_COMMON_GAPS_LOGS_H_
#define RINGSCOPE_COMMANDS_COMMON_GAPS_LOGS_H_

#include <vector>

#include "commands/common/each_log.h"
#include "commands/report/json.h"
#include "commands/shell/console.h"

namespace ringscope {

inline constexpr const char* kGapsLogs = "gaps_logs";

/// The document of many logs' losses: each log, and totals.
/// @param logs with sessions as 'ringscope gaps' writes them
Json GapsLogsJson(const std::vector<LogResult>& logs);
/// The same for people: a line for each log, and totals.
void PrintGapsLogs(Console& console, const std::vector<LogResult>& logs);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_COMMON_GAPS_LOGS_H_
