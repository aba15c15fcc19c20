#ifndef RINGSCOPE_COMMANDS_PLUGIN_REMOTE_BUFFER_H_
#define RINGSCOPE_COMMANDS_PLUGIN_REMOTE_BUFFER_H_

#include <cstdint>
#include <memory>

#include "commands/plugin/host_process.h"
#include "commands/plugin/plugin_buffer.h"

namespace ringscope {

/// Makes a buffer in a plug-in's process. Commits to one that is not observed wait there for a call
/// that has an answer, and so do their failures; events come in the call that causes them.
/// @param plugin its index in the file
/// @return nullptr: the plug-in refused, or its process died
std::unique_ptr<PluginBuffer> CreateRemoteBuffer(std::shared_ptr<HostProcess> host, uint64_t plugin,
                                                 const ringscope_config& config,
                                                 const LogMoment* now);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PLUGIN_REMOTE_BUFFER_H_
