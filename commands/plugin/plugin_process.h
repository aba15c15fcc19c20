#ifndef RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_PROCESS_H_
#define RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_PROCESS_H_

#include <memory>
#include <string>
#include <vector>

#include "commands/plugin/plugin.h"

namespace ringscope {

/// Loads a shared object in processes of its own: Plugin::LoadAll. Each buffer, with its clones,
/// has a process, which another buffer gets after it.
Result<std::vector<std::shared_ptr<const Plugin>>> LoadInProcess(const std::string& text,
                                                                 const PluginRun& run);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_PROCESS_H_
