#ifndef RINGSCOPE_COMMANDS_EXPORT_EXPORT_H_
#define RINGSCOPE_COMMANDS_EXPORT_EXPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "commands/common/replay_run.h"
#include "commands/shell/command.h"

namespace ringscope {

struct ExportArgs {
  std::vector<std::string> logs;
  std::string output;
  ReplayChoices choices;
  std::optional<uint64_t> session;
};

/// Replays logs and writes what happened to every packet and chunk into a SQLite database.
Result<ExitCode> RunExport(const ExportArgs& args, Context& context);
Command ExportCommand();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_EXPORT_EXPORT_H_
