#ifndef RINGSCOPE_COMMANDS_PLUGIN_GUARD_H_
#define RINGSCOPE_COMMANDS_PLUGIN_GUARD_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/shell/command.h"
#include "core/base/log_moment.h"
#include "core/base/result.h"

namespace ringscope {

/// Limits of a process that runs plug-ins.
struct PluginLimits {
  /// Reads RINGSCOPE_PLUGIN_TIME and RINGSCOPE_PLUGIN_MEMORY. kUsage: one of them is no such value
  static Result<PluginLimits> FromEnvironment();

  uint64_t time_ns = 10'000'000'000;    // of one call; 0: there is no guard, for debuggers
  uint64_t memory = uint64_t{4} << 30;  // bytes resident
};

/// Plug-ins that the options of a command name, each once.
std::vector<std::string> PluginsOf(const CLI::App& app);

/// Runs `body` in a child process, which a plug-in may crash, hang, or fill with memory. No thread
/// may run here yet. Files that the child left half-written are removed.
/// @param plugins used by the body
/// @return what the body returned, an exit status. kDied if the child was ended: names the plug-in,
/// its function and the record of the calls under way
Result<int> RunGuarded(const PluginLimits& limits, const std::vector<std::string>& plugins,
                       const std::function<int()>& body);

/// A call of a plug-in's function, for the error of a guarded run, for as long as this lives.
class PluginCall {
 public:
  /// @param plugin as the command line has it
  /// @param function a literal
  /// @param now the record under way; nullptr if none is
  PluginCall(std::string_view plugin, const char* function, const LogMoment* now);
  ~PluginCall();
  PluginCall(const PluginCall&) = delete;
  PluginCall& operator=(const PluginCall&) = delete;
};

/// Names the work of this thread's next calls, beside the record: "stream 17 of seed 5".
void NotePluginWork(std::string_view work);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PLUGIN_GUARD_H_
