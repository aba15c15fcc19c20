#ifndef RINGSCOPE_COMMANDS_COMMON_SWEEP_LOGS_H_
#define RINGSCOPE_COMMANDS_COMMON_SWEEP_LOGS_H_

#include <string>
#include <vector>

#include "commands/common/each_log.h"
#include "commands/report/json.h"
#include "commands/shell/console.h"

namespace ringscope {

inline constexpr const char* kSweepLogs = "sweep_logs";

/// The document of many logs' sweeps: each log, and totals: for each configuration what all of them
/// lost and the worst of them.
/// @param logs with sessions as 'ringscope sweep' writes them
Json SweepLogsJson(const std::vector<LogResult>& logs);
/// The same for people: a line for each log, and totals.
void PrintSweepLogs(Console& console, const std::vector<LogResult>& logs);

/// Rows of numbers; the first columns are the same for all tools that compare sizes.
extern const char* const kSweepCsvTitles;
/// @param session of a sweep, as an object
void PrintSweepCsv(Console& console, const Json& session, const std::string& log);
void PrintSweepLogsCsv(Console& console, const std::vector<LogResult>& logs);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_COMMON_SWEEP_LOGS_H_
