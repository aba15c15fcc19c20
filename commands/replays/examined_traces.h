#ifndef RINGSCOPE_COMMANDS_REPLAYS_EXAMINED_TRACES_H_
#define RINGSCOPE_COMMANDS_REPLAYS_EXAMINED_TRACES_H_

#include <string>

#include "commands/replays/session_reader.h"
#include "commands/shell/command.h"

namespace ringscope {

/// Returns true if an input is a trace, a zip archive or a folder: they have no commits to replay.
/// Standard input is taken as a log.
bool HasTraces(Context& context, const SessionSelection& input);
/// Runs doctor on these inputs: of a trace alone it says all that the trace proves.
/// @param format "text", "json", "jsonl" or "csv"
/// @param is_about_replays the command line has options that only a log's replay has: an error
Result<ExitCode> ExamineTraces(Context& context, const SessionSelection& input,
                               const std::string& format, bool is_about_replays);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAYS_EXAMINED_TRACES_H_
