#ifndef RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_LIBRARY_H_
#define RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_LIBRARY_H_

#include <memory>
#include <string>
#include <vector>

#include "commands/plugin/plugin.h"

namespace ringscope {

/// Loads a shared object into this process: Plugin::LoadAll. It is unloaded with the last of its
/// plug-ins and buffers.
Result<std::vector<std::shared_ptr<const Plugin>>> LoadPluginLibrary(const std::string& text);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_LIBRARY_H_
