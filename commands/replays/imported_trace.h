#ifndef RINGSCOPE_COMMANDS_REPLAYS_IMPORTED_TRACE_H_
#define RINGSCOPE_COMMANDS_REPLAYS_IMPORTED_TRACE_H_

#include <memory>
#include <string>

#include "commands/shell/context.h"
#include "formats/io/byte_stream.h"
#include "formats/trace/trace_file_scan.h"
#include "formats/trace/trace_log.h"

namespace ringscope {

/// Reads a Perfetto trace by the rules of trace processor, with progress.
Result<ScannedTrace> ScanTrace(Context& context, std::unique_ptr<ByteSource> source);

/// Says what was imported of a trace, what had to be assumed, and what its log cannot show.
void SayImported(const TraceLog& log, Console& console);

/// An input as a log: a Perfetto trace is imported on the fly, and all that this assumes is said;
/// anything else stays as it is.
/// @param source the input from its first byte
/// @param quiet say nothing: another reader did
Result<std::unique_ptr<ByteSource>> AsLog(Context& context, const std::string& path,
                                          std::unique_ptr<ByteSource> source, bool quiet = false);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAYS_IMPORTED_TRACE_H_
