#ifndef RINGSCOPE_COMMANDS_COMMON_LOG_LIST_H_
#define RINGSCOPE_COMMANDS_COMMON_LOG_LIST_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/shell/cli_fwd.h"
#include "commands/shell/context.h"
#include "core/base/result.h"

namespace ringscope {

/// Every count-th log of a list, from the index-th on.
struct Shard {
  uint64_t index = 1;  // from 1
  uint64_t count = 1;
};
/// "2/8"
Result<Shard> ParseShard(std::string_view text);

/// How a command that takes many logs takes them.
struct LogChoices {
  std::vector<std::string> logs;  // also folders, and @FILE for a list
  bool each = false;
  std::optional<Shard> shard;
};
/// Adds LOG..., --each and --shard.
/// @param name of the argument; @param more what else it may be: "; or two result files"
void AddLogList(CLI::App& app, LogChoices& choices, const std::string& name = "LOG",
                const std::string& more = {});

/// The logs that were meant.
struct LogList {
  std::vector<std::string> paths;
  /// Each is to be taken for itself, and gets a line: asked for, or there is a folder or a list, or
  /// there are several, none of which continues a session that another one begins.
  bool each = false;
  bool each_asked = false;  // not because there are several
};

/// Folders are searched, with all below them, for .tblog, .ops.jsonl and .ops.jsonl.zst; a list has
/// a log or a folder on each line, blank lines and those with # apart. Where each log is taken for
/// itself they are sorted by name, none twice, and then the shard is taken.
Result<LogList> ExpandLogs(Context& context, const LogChoices& choices);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_COMMON_LOG_LIST_H_
