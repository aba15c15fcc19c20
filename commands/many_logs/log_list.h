#ifndef RINGSCOPE_COMMANDS_MANY_LOGS_LOG_LIST_H_
#define RINGSCOPE_COMMANDS_MANY_LOGS_LOG_LIST_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/many_logs/shards.h"
#include "commands/shell/cli_fwd.h"
#include "commands/shell/context.h"
#include "commands/shell/options.h"
#include "core/base/result.h"

namespace ringscope {

/// What a command takes beside logs.
enum class ListedInputs : uint8_t {
  kLogs,    // nothing
  kTraces,  // Perfetto traces, and zip archives of them
};

/// Which logs a user chooses for a command that takes many.
struct LogChoices {
  ListedInputs inputs = ListedInputs::kLogs;
  std::vector<std::string> logs;  // also folders, and @FILE for a list
  bool each = false;
  std::optional<Shard> shard;
};
/// Adds LOG... (or another name), --each and --shard.
/// @param name of the argument; @param more what else it may be: "; or two result files"
void AddLogList(CLI::App& app, LogChoices& choices, const std::string& name = "LOG",
                const std::string& more = {}, Need need = Need::kRequired);

/// The logs that these choices select.
struct LogList {
  std::vector<std::string> paths;
  /// Each is processed separately and gets a line: the user asks for it, or names a folder or a
  /// list, or (of a command that takes logs alone) several of which none continues a session that
  /// another one begins.
  bool each = false;
  bool each_asked = false;  // for another reason than that there are several
  ShardsHeld shards;        // what the paths are of
};

/// Whether logs have such names: "x.tblog", "x.ops.jsonl", compressed or not.
bool IsLogName(std::string_view name);
/// Folders are searched, with all below them, for .tblog, .ops.jsonl and .ops.jsonl.zst, and if
/// traces are taken, for files that IsTraceName and for .zip; a list has
/// a log or a folder on each line that is neither blank nor begins with #. Logs that are processed
/// separately are sorted by name, none twice, and then the shard is taken.
Result<LogList> ExpandLogs(Context& context, const LogChoices& choices);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_MANY_LOGS_LOG_LIST_H_
