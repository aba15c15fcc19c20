#include "commands/plugin/plugin_run.h"

#include "commands/shell/options.h"
#include "commands/shell/values.h"

namespace ringscope {

void AddPluginOptions(CLI::App& app, PluginRun& run) {
  InGroup(app, "Plug-ins");
  AddFlag(app, "--in-process", run.in_process,
          "Run plug-ins as part of ringscope, to measure or debug them: one that crashes then ends "
          "ringscope (default: in processes of their own)");
  AddParsed(app, "--plugin-time", run.time_limit_ns, ParsePositiveDuration, "TIME",
            "How long a plug-in's process may take for an answer (default: 10s)");
  AddParsed(app, "--plugin-memory", run.memory_limit, ParseSize, "SIZE",
            "How much memory a plug-in's process may use (default: 4GiB)");
}

}  // namespace ringscope
