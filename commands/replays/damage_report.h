#ifndef RINGSCOPE_COMMANDS_REPLAYS_DAMAGE_REPORT_H_
#define RINGSCOPE_COMMANDS_REPLAYS_DAMAGE_REPORT_H_

#include "commands/shell/exit_code.h"
#include "commands/view/report.h"
#include "formats/inputs/log_check.h"
#include "formats/trace/trace_log.h"

namespace ringscope {

/// Damaged places: offset, bytes, records, what.
Table DamageTable(const std::vector<Damage>& damage);
/// The table as text, and how many places are not in it.
void PrintDamage(Report& report, const LogInfo& info);

/// Whether all of a trace's packets are in the log that was made of it.
bool IsComplete(const TraceLog& log);
/// Warns of what of a trace is not in the log that was made of it.
/// @return kNotice if anything is missing
ExitCode WarnOfTraceLog(Console& console, const std::string& path, const TraceLog& log);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAYS_DAMAGE_REPORT_H_
