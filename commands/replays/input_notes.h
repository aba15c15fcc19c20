#ifndef RINGSCOPE_COMMANDS_REPLAYS_INPUT_NOTES_H_
#define RINGSCOPE_COMMANDS_REPLAYS_INPUT_NOTES_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/shell/context.h"
#include "commands/shell/exit_code.h"
#include "core/log/op.h"
#include "core/session/session_clock.h"
#include "formats/io/byte_stream.h"
#include "formats/io/log_source.h"
#include "formats/trace/trace_file_scan.h"
#include "formats/trace/trace_log.h"

namespace ringscope {

// Reading inputs, and the messages on what they lack.

/// Warns of damage, of at most a screenful of it.
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
/// Warns where times of day are to be shown that the log's clock snapshots do not have.
void WarnOfUnknownTimes(Console& console, const std::string& path, const SessionClock& clock);
/// "a.tblog, b.tblog and 3 more"
std::string Shortened(const std::vector<std::string>& names);

/// Reads a Perfetto trace by the rules of trace processor, with progress.
Result<ScannedTrace> ScanTrace(Context& context, std::unique_ptr<ByteSource> source);
/// Writes a trace as a log, with progress.
Result<TraceLog> ImportTrace(Context& context, TraceLogOptions options,
                             std::unique_ptr<ByteSource> source, ByteSink& sink);
/// Prints what was imported of a trace, what had to be assumed, and what its log cannot show.
void SayImported(const TraceLog& log, Console& console);
/// Warns of what of a trace is not in the log that was made of it.
/// @return kNotice if anything is missing
ExitCode WarnOfTraceLog(Console& console, const std::string& path, const TraceLog& log);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAYS_INPUT_NOTES_H_
