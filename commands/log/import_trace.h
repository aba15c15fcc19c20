#ifndef RINGSCOPE_COMMANDS_LOG_IMPORT_TRACE_H_
#define RINGSCOPE_COMMANDS_LOG_IMPORT_TRACE_H_

#include <memory>

#include "commands/log/import.h"
#include "commands/shell/context.h"
#include "commands/shell/exit_code.h"
#include "formats/io/byte_stream.h"

namespace ringscope {

/// Makes a commit log from a Perfetto trace, and reports what is in it.
Result<ExitCode> RunTraceImport(const ImportArgs& args, std::unique_ptr<ByteSource> source,
                                Context& context);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_LOG_IMPORT_TRACE_H_
