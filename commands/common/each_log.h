#ifndef RINGSCOPE_COMMANDS_COMMON_EACH_LOG_H_
#define RINGSCOPE_COMMANDS_COMMON_EACH_LOG_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "commands/report/json.h"
#include "commands/shell/context.h"
#include "commands/shell/exit_code.h"

namespace ringscope {

/// How it went with one of many logs.
struct LogStatus {
  std::string log;
  ExitCode code = ExitCode::kFailed;
  std::optional<std::string> error;
};

/// What is done with one of many logs, on any thread. It keeps its results itself.
/// @param index of the path
using LogTask =
    std::function<Result<ExitCode>(size_t index, const std::string& path, Context& context)>;

/// Does it with all logs, on all cores, each log on one thread. A log with which it fails does not
/// stop the others. Shows progress; what the tasks say is printed afterwards, log by log.
/// @param activity for the progress line: "sweeping"
/// @return in the order of `paths`
std::vector<LogStatus> RunEachLog(Context& context, const std::vector<std::string>& paths,
                                  const std::string& activity, const LogTask& task);

/// How a run over these logs ends: kFailed if all failed, kNotice if any did or has something to
/// report.
ExitCode WorstOf(const std::vector<LogStatus>& logs);
size_t CountFailed(const std::vector<LogStatus>& logs);

/// A log with the objects of its sessions, as documents of many logs have them.
struct LogResult {
  LogStatus status;
  Json sessions = Json::array();  // empty where it failed
};
std::vector<LogStatus> StatusesOf(const std::vector<LogResult>& logs);
/// An array of objects: log, exit_status, error (null: none), sessions.
Json LogsJson(std::vector<LogResult> logs);
/// The same read back. Throws JsonError where it is not such an array.
std::vector<LogResult> ReadLogs(const Json& logs);

/// Names by which a table tells the logs apart, and what they share.
struct LogNames {
  std::vector<std::string> names;
  std::string pattern;  // "captures/*/session.tblog"; empty: the names are the whole paths
};
LogNames ShortNames(const std::vector<LogStatus>& logs);

/// "failed: demo/a.tblog: cannot open", a line for each log that failed; empty: none did.
std::string FailuresText(const std::vector<LogStatus>& logs);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_COMMON_EACH_LOG_H_
