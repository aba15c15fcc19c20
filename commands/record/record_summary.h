#ifndef RINGSCOPE_COMMANDS_RECORD_RECORD_SUMMARY_H_
#define RINGSCOPE_COMMANDS_RECORD_RECORD_SUMMARY_H_

#include <optional>
#include <string>

#include "commands/record/log_queue.h"
#include "commands/record/tap.h"
#include "commands/replays/trace_check.h"
#include "commands/shell/console.h"

namespace ringscope {

/// What a recording is of and how exact it is: at its end, or so far.
struct RecordSummary {
  std::string output;               // the log, as it was named
  const LogFiles* files = nullptr;  // nullptr: the recording has not ended
  RecordCounts counts;
  LogQueue::State queue;
  std::string trace;  // that it was compared with; empty: none
  std::optional<TraceCheck> check = {};
};

/// "12 records (1.2MiB) in 2 gaps could not be written in time"; "none".
std::string GapsText(const LogQueue::State& queue);

/// Text goes to standard error, below the recorder's other messages; a document to standard output.
void ReportSummary(Console& console, const std::string& format, const RecordSummary& summary);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_RECORD_RECORD_SUMMARY_H_
