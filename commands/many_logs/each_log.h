#ifndef RINGSCOPE_COMMANDS_MANY_LOGS_EACH_LOG_H_
#define RINGSCOPE_COMMANDS_MANY_LOGS_EACH_LOG_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/shell/context.h"
#include "commands/shell/exit_code.h"

namespace ringscope {

/// How a run over many logs ended for one of them.
struct LogStatus {
  std::string log;
  ExitCode code = ExitCode::kFailed;
  std::optional<std::string> error;
};
template <typename Io>
void ListFields(Io& io, LogStatus& status) {
  io("log", status.log, "exit_status", status.code, "error", status.error);
}

/// Processes one of many logs, on any thread. It keeps its results itself.
/// @param index of the path
using LogTask =
    std::function<Result<ExitCode>(size_t index, const std::string& path, Context& context)>;

/// Runs the task for all logs, on all cores, each log on one thread. A log that fails does not stop
/// the others. Shows progress; the messages of the tasks are printed afterwards, log by log.
/// @param activity for the progress line: "sweeping"
/// @return in the order of `paths`
std::vector<LogStatus> RunEachLog(Context& context, const std::vector<std::string>& paths,
                                  const std::string& activity, const LogTask& task);

/// How a run over these logs ends: kFailed if all failed, kNotice if any did or has something to
/// report.
ExitCode WorstOf(const std::vector<LogStatus>& logs);
size_t CountFailed(const std::vector<LogStatus>& logs);

/// A log with the results of its sessions, as documents of many logs have them.
template <typename Session>
struct LogResult {
  LogStatus status;
  std::vector<Session> sessions;  // empty where it failed
};
template <typename Io, typename Session>
void ListFields(Io& io, LogResult<Session>& log) {
  ListFields(io, log.status);
  io("sessions", log.sessions);
}

/// Runs `task` for each log, and collects the results of their sessions.
/// @param task (const std::string& path, Context&, std::vector<Session>&) to Result<ExitCode>
template <typename Session, typename Task>
std::vector<LogResult<Session>> CollectEachLog(Context& context,
                                               const std::vector<std::string>& paths,
                                               const std::string& activity, const Task& task) {
  std::vector<LogResult<Session>> logs(paths.size());
  const auto collect = [&](size_t index, const std::string& path, Context& own) {
    Result<ExitCode> code = task(path, own, logs[index].sessions);
    if (!code) logs[index].sessions.clear();
    return code;
  };
  std::vector<LogStatus> statuses = RunEachLog(context, paths, activity, collect);
  for (size_t i = 0; i < logs.size(); ++i) logs[i].status = std::move(statuses[i]);
  return logs;
}

template <typename Session>
std::vector<LogStatus> StatusesOf(const std::vector<LogResult<Session>>& logs) {
  std::vector<LogStatus> statuses;
  for (const LogResult<Session>& log : logs) statuses.push_back(log.status);
  return statuses;
}

/// Names that distinguish the logs in a table, and what they share.
struct LogNames {
  std::vector<std::string> names;
  std::string pattern;  // "captures/*/session.tblog"; empty: the names are the whole paths

  /// "7 logs (captures/*/session.tblog)"
  std::string Title() const;
};
LogNames ShortNames(const std::vector<LogStatus>& logs);

/// "failed: demo/a.tblog: cannot open", a line for each log that failed; empty: none did.
std::string FailuresText(const std::vector<LogStatus>& logs);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_MANY_LOGS_EACH_LOG_H_
