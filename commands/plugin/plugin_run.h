#ifndef RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_RUN_H_
#define RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_RUN_H_

#include <cstdint>

#include "commands/shell/cli_fwd.h"

namespace ringscope {

/// Where plug-ins run, and what they may use there.
struct PluginRun {
  bool in_process = false;                    // as part of ringscope, without the limits
  uint64_t time_limit_ns = 10'000'000'000;    // for the answer to a call
  uint64_t memory_limit = uint64_t{4} << 30;  // bytes, of a process
};

/// --in-process, --plugin-time and --plugin-memory, below "Plug-ins".
void AddPluginOptions(CLI::App& app, PluginRun& run);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_RUN_H_
