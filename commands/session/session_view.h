#ifndef RINGSCOPE_COMMANDS_SESSION_SESSION_VIEW_H_
#define RINGSCOPE_COMMANDS_SESSION_SESSION_VIEW_H_

#include "commands/session/replay_run.h"
#include "core/examine/loss_words.h"

namespace ringscope {

// Sessions and their records as commands print them.

/// Handles the session that the reader is at.
using SessionTask = std::function<Result<ExitCode>()>;

/// Takes all sessions, one after the other.
/// @return the worst ending; kNotice if an input was damaged
Result<ExitCode> ForEachSession(SessionReader& sessions, const SessionTask& task);
/// Takes all sessions, each of which is reported: an object of the array "sessions", with an empty
/// line between them as text. After them reports what had to be assumed of the input, in what the
/// recordings are not exact, and what of the input is missing; for programs as "assumed" and
/// "not_complete", and "inexact" of each session.
Result<ExitCode> ReportSessions(SessionReader& sessions, Report& report, const SessionTask& task);

/// The first line of a report on a session: "x.tblog: session 1: 4,732 records over 1.130 s".
struct SessionTitle {
  std::string path;
  uint64_t session = 0;  // 0: the input has no other
  uint64_t records = 0;
  uint64_t duration_ns = 0;
  std::optional<uint64_t> clone = {};  // that is seen; absent: the session itself
  std::string more = {};               // ", 2 reads"
};
void ReportTitle(Report& report, const SessionTitle& title);
/// Reports the clones that the session has beside what is reported, if any.
void ReportClones(Report& report, const ReplayOutcome& session);

/// Reports the title of a replay, and that the session has no buffer, if so.
void ReportReplayTitle(Report& report, const ReplayOutcome& outcome);

/// Warns that a log's recording is not exact, if so.
void WarnOfInexact(Console& console, const std::string& path, const Verdicts& verdicts);
/// Adds "inexact" to the document, if there is anything to report.
void AddInexact(Report& report, const Verdicts& verdicts);
/// {"reason": "order", "times": 1, "session": null, "detail": ...}
void ListFields(JsonFieldWriter& io, const RecordingVerdict& verdict);

/// "10 fragments, 4,080 bytes, continues on next, needs patching"
std::string DescribeChunk(const ChunkToMove& chunk);
/// "2 patches at 12, 30, more patches follow"
std::string DescribePatches(const ChunkToPatch& patch);
/// The fields of any record but a commit: "producer 1, uid 10, name 'app'".
std::string DescribeRecord(const OpBody& body);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SESSION_SESSION_VIEW_H_
