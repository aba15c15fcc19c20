#ifndef RINGSCOPE_COMMANDS_PLUGIN_BUILD_PLUGIN_H_
#define RINGSCOPE_COMMANDS_PLUGIN_BUILD_PLUGIN_H_

#include <string>
#include <vector>

#include "core/base/result.h"

namespace ringscope {

struct PluginBuildOptions {
  std::string perfetto;  // a checkout
  std::string out;       // a build folder with generated headers; empty: looked for
  std::string commit;    // of git, in place of what is checked out; empty: none
  std::string buffer;    // "v1" or "v2" alone; empty: both, as far as there are both
  std::string compiler;  // and what precedes its arguments: "ccache g++"
  bool asan = false;
  unsigned at_once = 1;  // compilers
};

struct BuiltPlugin {
  size_t sources = 0;              // of Perfetto that were compiled
  std::vector<std::string> notes;  // what the user should know
};

/// Compiles the adapter with a checkout's buffers.
/// @param to the file to write
Result<BuiltPlugin> BuildPlugin(const PluginBuildOptions& options, const std::string& to);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PLUGIN_BUILD_PLUGIN_H_
