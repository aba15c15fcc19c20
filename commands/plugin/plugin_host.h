#ifndef RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_HOST_H_
#define RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_HOST_H_

#include <optional>
#include <string>
#include <vector>

namespace ringscope {

/// The program in which plug-ins run: this one, with an argument that nobody types.
inline constexpr const char* kPluginHostProgram = "/proc/self/exe";
inline constexpr const char* kPluginHostArgument = "--ringscope-plugin-host";

/// Runs plug-ins for the process that started this one, until that ends. To be called first in each
/// main: the programs that use plug-ins are started again for them.
/// @param args the command line without the program's name
/// @return the exit status; nullopt: the program was started for something else
std::optional<int> RunAsPluginHost(const std::vector<std::string>& args);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PLUGIN_PLUGIN_HOST_H_
