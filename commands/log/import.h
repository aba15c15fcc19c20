#ifndef RINGSCOPE_COMMANDS_LOG_IMPORT_H_
#define RINGSCOPE_COMMANDS_LOG_IMPORT_H_

#include <string>

#include "commands/shell/command.h"
#include "formats/log/commit_log_writer.h"

namespace ringscope {

struct ImportArgs {
  std::string log;
  std::string output;
  int level = kDefaultLevel;  // zstd's
};

/// Writes any log as a `.tblog`. Logs without a header get one.
Result<ExitCode> RunImport(const ImportArgs& args, Context& context);
Command ImportCommand();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_LOG_IMPORT_H_
