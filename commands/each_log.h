#ifndef RINGSCOPE_COMMANDS_EACH_LOG_H_
#define RINGSCOPE_COMMANDS_EACH_LOG_H_

#include <functional>
#include <string>
#include <vector>

#include "commands/context.h"
#include "commands/exit_code.h"
#include "commands/json_output.h"

namespace ringscope {

/// What is done with one of many logs, on any thread.
/// @param sessions gets an object for each of the log's sessions
using LogTask =
    std::function<Result<ExitCode>(const std::string& path, Context& context, Json& sessions)>;

/// Does it with all logs, on all cores, each log on one thread. A log with which it fails does not
/// stop the others. Shows progress; what the tasks say is printed behind, log by log.
/// @param activity for the progress line: "sweeping"
/// @return an array with an object for each log, in the order of `paths`: log, exit_status, error
///   (null: none), sessions
Json RunEachLog(Context& context, const std::vector<std::string>& paths,
                const std::string& activity, const LogTask& task);

/// How a run over these logs ends: kFailed if all failed, kNotice if any did or has something to
/// tell.
ExitCode WorstOf(const Json& logs);

/// Names by which a table tells the logs apart, and what they share.
struct LogNames {
  std::vector<std::string> names;
  std::string pattern;  // "captures/*/session.tblog"; empty: the names are the whole paths
};
LogNames ShortNames(const Json& logs);

/// "failed: demo/a.tblog: cannot open", a line for each log that failed; empty: none did.
std::string FailuresText(const Json& logs);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_EACH_LOG_H_
