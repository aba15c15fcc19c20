#ifndef RINGSCOPE_COMMANDS_INFO_REPORT_H_
#define RINGSCOPE_COMMANDS_INFO_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "commands/json_output.h"
#include "formats/commit_log_check.h"

namespace ringscope {

/// What a log holds, for people. @param only a session's number, from 1; absent: all
void PrintInfo(Console& console, const std::string& path, const LogInfo& info,
               std::optional<uint64_t> only);

/// The same as a document.
Json InfoJson(const std::string& path, const LogInfo& info, std::optional<uint64_t> only);

/// "commit log", "operations", "operations, zstd-compressed"
const char* FormatName(LogFormat format);

/// "2 sessions, 4,732 records, 1.2 MiB in 9 frames (9.9 MiB raw)"
std::string ExtentText(const LogInfo& info);

/// Damage as an array of objects.
Json DamageJson(const std::vector<Damage>& damage);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_INFO_REPORT_H_
