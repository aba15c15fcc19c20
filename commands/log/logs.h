#ifndef RINGSCOPE_COMMANDS_LOG_LOGS_H_
#define RINGSCOPE_COMMANDS_LOG_LOGS_H_

#include "commands/session/session_reader.h"
#include "commands/view/report.h"
#include "core/examine/loss_words.h"
#include "core/reads/ready_times.h"
#include "formats/inputs/open_log.h"
#include "formats/log/commit_log_writer.h"

namespace ringscope {

/// Reads a log, and reports what it holds.
/// @param only a session's number, from 1; absent: all
/// @return kNotice if the log is damaged or not complete
Result<ExitCode> ReportInfo(Context& context, const std::string& log, std::optional<uint64_t> only,
                            Report& report);

// Parts that info and verify share.

/// "2 sessions, 4,732 records, 1.2 MiB in 9 frames (9.9 MiB raw)"
std::string ExtentText(const LogInfo& info);
/// For a log that was not closed: how far it goes, and that it is being recorded, if so.
std::string IncompleteText(const std::string& path, const LogInfo& info);
/// Returns in what the recording of a session is not exact: its marks, and for a session with a
/// file what recorders before version 0.2 did not know of the order of its reads and clones.
Verdicts VerdictsOf(const SessionSummary& session);
/// Returns true for a copy of a log that was not closed.
bool IsCutOff(const LogInfo& info);
/// Adds format, extent and damage to the document.
void AddLogData(Report& report, const std::string& path, const LogInfo& info);
/// Damaged places: offset, bytes, records, what.
Table DamageTable(const std::vector<Damage>& damage);
/// Prints the damaged places, and how many are not listed.
void PrintDamage(Report& report, const std::vector<Damage>& damage, uint64_t count);

// Events of a session.

/// Returns the time from which the events of the session count; absent: no record has one.
std::optional<uint64_t> StartOf(const SessionSummary& session);

/// "periodic", "before the stop, by the perfetto command"; empty: not known.
std::string FlushReasonText(uint64_t flags);

/// The buffer as the config names it: "buffers[0]", "buffers[0] of session 2" where several set-ups
/// have this name; one that was not set up: "buffer 7".
/// @param set_up place in the session's list; absent: the last one with the id
std::string BufferNameIn(const SessionSummary& session, BufferId id,
                         std::optional<uint64_t> set_up = {});

/// Reports what happened in a session: lines for people, `events`, `configs` and `flushes` for
/// programs. Of many events alike the first ones and the last one have a line each, and one line
/// counts the others.
void ReportEvents(Report& report, const SessionSummary& session);

// Copies of logs.

struct LogCopyOptions {
  int level = kDefaultLevel;             // zstd's
  bool without_payload = false;          // see PayloadMask
  std::optional<FoundReads> reads = {};  // of the only session, in place of its own
  std::string reads_from = {};           // the trace in which they were found
};

/// Counts of a copy.
struct LogCopy {
  uint64_t sessions = 0, records = 0, bytes = 0;
  std::string left_out;     // a clause that says what is; empty: nothing
  bool is_cut_off = false;  // a session was, and its copy is marked so
};

/// Writes all that is readable of some logs as one commit log: the parts of a recording become one,
/// a RecorderGap is where records are missing, and a session whose log was not closed is marked as
/// cut off. A log without a header gets one that marks it as imported.
/// @param more whether `sessions` is at a session: its first
Result<LogCopy> CopyLog(SessionReader& sessions, bool more, ByteSink& out,
                        const LogCopyOptions& options = {});

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_LOG_LOGS_H_
