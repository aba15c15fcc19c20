#ifndef RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_ENGINE_H_
#define RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_ENGINE_H_

#include <memory>

#include "commands/plugin/plugin.h"
#include "core/engine/engine.h"

namespace ringscope {

/// Makes a buffer of a plug-in. It keeps the plug-in loaded, and checks what it returns:
/// an impossible packet, or a failure that the plug-in reports, becomes the engine's failure().
/// Fails if the plug-in does, with its message.
Result<std::unique_ptr<Engine>> CreatePluginEngine(const std::shared_ptr<const Plugin>& plugin,
                                                   const EngineConfig& config);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_ENGINE_H_
