#ifndef RINGSCOPE_COMMANDS_DUMP_H_
#define RINGSCOPE_COMMANDS_DUMP_H_

#include <optional>
#include <string>

#include "commands/command.h"
#include "commands/dump_filter.h"

namespace ringscope {

struct DumpArgs {
  std::string log;
  std::string format = "text";
  DumpFilter filter;
  std::optional<uint64_t> session;
};

/// Prints a log's records.
Result<ExitCode> RunDump(const DumpArgs& args, Context& context);
Command DumpCommand();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_DUMP_H_
