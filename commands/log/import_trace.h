#ifndef RINGSCOPE_COMMANDS_LOG_IMPORT_TRACE_H_
#define RINGSCOPE_COMMANDS_LOG_IMPORT_TRACE_H_

#include <memory>
#include <string>

#include "commands/shell/context.h"
#include "commands/shell/exit_code.h"
#include "formats/io/byte_stream.h"
#include "formats/log/commit_log_writer.h"
#include "formats/trace/trace_import.h"

namespace ringscope {

struct ImportArgs {
  std::string log;
  std::string output;
  int level = kDefaultLevel;  // zstd's
};

/// A commit log that was made of a trace.
struct TraceLog {
  TraceImportReport report;
  uint64_t records = 0;
  uint64_t bytes = 0;
  ExitCode code = ExitCode::kClean;  // kNotice: some of the trace could not be read
};

/// Makes a commit log from a Perfetto trace in a sink, and warns of what could not be read.
/// @param args the output is what the sink writes to
Result<TraceLog> WriteTraceLog(const ImportArgs& args, std::unique_ptr<ByteSource> source,
                               ByteSink& sink, Context& context);
/// Makes a commit log from a Perfetto trace, and reports what it contains.
Result<ExitCode> RunTraceImport(const ImportArgs& args, std::unique_ptr<ByteSource> source,
                                Context& context);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_LOG_IMPORT_TRACE_H_
