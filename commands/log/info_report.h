#ifndef RINGSCOPE_COMMANDS_LOG_INFO_REPORT_H_
#define RINGSCOPE_COMMANDS_LOG_INFO_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "commands/view/report.h"
#include "formats/inputs/imported_traces.h"
#include "formats/inputs/log_check.h"
#include "formats/inputs/log_parts.h"

namespace ringscope {

/// What a log holds. @param only a session's number, from 1; absent: all
/// @param path that was asked for; @param parts the files that `info` is of
/// @param trace whether it is a trace, imported as a log
void ReportInfo(Report& report, const std::string& path, const LogParts& parts,
                  const LogInfo& info, std::optional<uint64_t> only, ImportedTrace trace);
/// What a log is as a whole, as data: format, extent, damage.
void AddLogData(Report& report, const std::string& path, const LogInfo& info);

/// Of a log that was not closed: how far it goes, and whether it is being recorded.
std::string IncompleteText(const std::string& path, const LogInfo& info);
/// Whether it is a copy of a log that was not closed.
bool IsCutOff(const LogInfo& info);
/// Whether a session begins with another part than the first.
bool StartIsMissing(const LogInfo& info);

/// "2 sessions, 4,732 records, 1.2 MiB in 9 frames (9.9 MiB raw)"
std::string ExtentText(const LogInfo& info);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_LOG_INFO_REPORT_H_
