#ifndef RINGSCOPE_COMMANDS_LOG_INFO_REPORT_H_
#define RINGSCOPE_COMMANDS_LOG_INFO_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "commands/report/report.h"
#include "formats/inputs/log_check.h"

namespace ringscope {

/// What a log holds. @param only a session's number, from 1; absent: all
void ReportInfo(Report& report, const std::string& path, const LogInfo& info,
                std::optional<uint64_t> only);
/// What a log is as a whole, as data: format, extent, damage.
void AddLogData(Report& report, const std::string& path, const LogInfo& info);

/// "2 sessions, 4,732 records, 1.2 MiB in 9 frames (9.9 MiB raw)"
std::string ExtentText(const LogInfo& info);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_LOG_INFO_REPORT_H_
