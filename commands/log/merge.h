#ifndef RINGSCOPE_COMMANDS_LOG_MERGE_H_
#define RINGSCOPE_COMMANDS_LOG_MERGE_H_

#include <string>
#include <vector>

#include "commands/shell/command.h"

namespace ringscope {

struct MergeArgs {
  std::vector<std::string> results;
  std::string format = "text";
};

/// Joins the JSON results that sweep or gaps made of many logs, in shards.
Result<ExitCode> RunMerge(const MergeArgs& args, Context& context);
Command MergeCommand();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_LOG_MERGE_H_
