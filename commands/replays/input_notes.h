#ifndef RINGSCOPE_COMMANDS_REPLAYS_INPUT_NOTES_H_
#define RINGSCOPE_COMMANDS_REPLAYS_INPUT_NOTES_H_

#include <optional>
#include <string>
#include <vector>

#include "commands/replays/session_reader.h"
#include "commands/shell/command.h"
#include "core/log/op.h"
#include "formats/io/log_source.h"

namespace ringscope {

// Reading inputs, and the messages on what they lack.

/// Warns of damage: the first places, and how many there are.
void WarnOfDamage(Console& console, const std::string& path, const std::vector<Damage>& damage,
                  uint64_t count);
/// Returns for a log that has no end, if it is still being recorded, and how far it goes.
/// @param duration_ns from the first to the last record of its last session
std::string NotClosedText(const std::string& path, std::optional<uint64_t> duration_ns);
/// For a copy of such a log, which is complete in itself.
inline constexpr const char* kCutOffText =
    "the log is a copy of one that was not closed: the end of the recording may be missing";
/// For a log that begins with a part of a recording that is not its first.
std::string StartMissingText(const LogHeader& header);
/// "a.tblog, b.tblog and 3 more"
std::string Shortened(const std::vector<std::string>& names);

/// Returns true if an input is a trace, a zip archive or a folder: they have no commits to replay.
/// Standard input is taken as a log.
bool HasTraces(Context& context, const SessionSelection& input);
/// Runs doctor on these inputs: of a trace alone it says all that the trace proves.
/// @param format "text", "json", "jsonl" or "csv"
/// @param is_about_replays the command line has options that only a log's replay has: an error
Result<ExitCode> ExamineTraces(Context& context, const SessionSelection& input,
                               const std::string& format, bool is_about_replays);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAYS_INPUT_NOTES_H_
