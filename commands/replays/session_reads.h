#ifndef RINGSCOPE_COMMANDS_REPLAYS_SESSION_READS_H_
#define RINGSCOPE_COMMANDS_REPLAYS_SESSION_READS_H_

#include <string>

#include "commands/replays/session_reader.h"
#include "commands/view/json_fields.h"
#include "commands/view/report.h"
#include "core/reads/ready_times.h"
#include "core/session/replay.h"

namespace ringscope {

/// Looks ahead in a session for its replay: reads its records once more where a read policy asks.
/// @param session selects one that can be read again; `context` outlives the result
LookAhead LookAheadIn(Context& context, const SessionSelection& session);

/// Finds the reads with which the session's replay equals a trace that the service wrote into a
/// file. kUsage: the log is standard input, or the trace is of another session.
/// @param session selects one
Result<FoundReads> FindSessionReads(Context& context, const SessionSelection& session,
                                    const std::string& trace);

/// When a replay read: "as recorded", "every 500 ms as for a file (assumed)".
std::string ReadsText(const ReadsUsed& used);
/// For a column: "recorded", "streamed (assumed)".
std::string ReadsName(const ReadsUsed& used);
/// Returns sentences about reads that were assumed, left out or added; may be empty.
std::string ReadsNotes(const ReadsUsed& used);
void ListFields(JsonFieldWriter& io, const ReadsUsed& used);

/// What was found, as the object "found_reads" and as text.
/// @param first_record number in its file of the session's first record
void ReportFoundReads(Report& report, const FoundReads& found, uint64_t first_record);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAYS_SESSION_READS_H_
