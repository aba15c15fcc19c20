#ifndef RINGSCOPE_COMMANDS_LOG_IMPORT_TRACE_H_
#define RINGSCOPE_COMMANDS_LOG_IMPORT_TRACE_H_

#include <memory>
#include <string>

#include "commands/shell/context.h"
#include "commands/shell/exit_code.h"
#include "formats/io/byte_stream.h"
#include "formats/log/commit_log_writer.h"

namespace ringscope {

struct ImportArgs {
  std::string log;
  std::string output;
  bool force = false;
  std::string reads_from;     // a trace whose reads go into the log; empty: none
  int level = kDefaultLevel;  // zstd's
  bool no_payload = false;
};

/// Makes a commit log from a Perfetto trace, and reports what it contains.
Result<ExitCode> RunTraceImport(const ImportArgs& args, std::unique_ptr<ByteSource> source,
                                Context& context);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_LOG_IMPORT_TRACE_H_
