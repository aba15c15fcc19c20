#ifndef RINGSCOPE_COMMANDS_LOG_DUMP_H_
#define RINGSCOPE_COMMANDS_LOG_DUMP_H_

#include <optional>
#include <string>

#include "commands/shell/command.h"
#include "core/log/record_filter.h"

namespace ringscope {

struct DumpArgs {
  std::string log;
  std::string format = "text";
  RecordCriteria filter;
  std::optional<uint64_t> session;
};

/// Prints a log's records.
Result<ExitCode> RunDump(const DumpArgs& args, Context& context);
Command DumpCommand();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_LOG_DUMP_H_
