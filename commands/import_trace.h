#ifndef RINGSCOPE_COMMANDS_IMPORT_TRACE_H_
#define RINGSCOPE_COMMANDS_IMPORT_TRACE_H_

#include <memory>

#include "commands/context.h"
#include "commands/exit_code.h"
#include "commands/import.h"
#include "formats/byte_stream.h"

namespace ringscope {

/// Makes a commit log from a Perfetto trace.
Result<ExitCode> RunTraceImport(const ImportArgs& args, std::unique_ptr<ByteSource> source,
                                Context& context);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_IMPORT_TRACE_H_
