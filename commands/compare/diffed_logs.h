#ifndef RINGSCOPE_COMMANDS_COMPARE_DIFFED_LOGS_H_
#define RINGSCOPE_COMMANDS_COMPARE_DIFFED_LOGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "commands/many_logs/each_log.h"
#include "commands/many_logs/shards.h"
#include "commands/replays/trace_check.h"
#include "commands/view/json_fields.h"
#include "commands/view/report.h"

namespace ringscope {

// What 'ringscope diff' found in many logs, and the report that is made of it.

/// A session that was compared.
struct DiffedSession {
  uint64_t session = 0;
  bool same = true;
  DiffCounts counts;
  Json document;  // all of it, where it was read from a result
};
template <typename Io>
void ListFields(Io& io, DiffedSession& session) {
  io("session", session.session, "same", session.same, "counts", session.counts);
}

using DiffedLogs = std::vector<LogResult<DiffedSession>>;
inline constexpr const char* kDiffDocument = "diff";

/// The logs of a result, each with its sessions. Throws an exception if they do not fit.
DiffedLogs DiffedLogsFromJson(const Json& document);

/// A line for each log, and the totals; for programs how it went with each log, and an array
/// "sessions" that the caller fills.
void ReportDiffedLogs(Report& report, const DiffedLogs& logs, const ShardsHeld& shards);

/// The same, and for programs the documents of the sessions.
/// @param format text or json
/// @param shards that the logs are of
/// @return how a run over these logs ends
Result<ExitCode> ReportLogs(Console& console, const std::string& format, const DiffedLogs& logs,
                            const ShardsHeld& shards);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_COMPARE_DIFFED_LOGS_H_
