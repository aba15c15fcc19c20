#ifndef RINGSCOPE_COMMANDS_SHELL_CONFIG_FILE_H_
#define RINGSCOPE_COMMANDS_SHELL_CONFIG_FILE_H_

#include <string>

#include "commands/shell/cli_fwd.h"
#include "commands/shell/context.h"
#include "core/base/result.h"

namespace ringscope {

/// A trace config that the user names, in protobuf's text format.
struct ConfigFile {
  std::string text;   // as it is
  std::string bytes;  // the TraceConfig message
};

/// Adds --config FILE.
/// @param what the config is for
void AddConfig(CLI::App& app, std::string& config, const std::string& what);

/// @param path "-": standard input
Result<ConfigFile> ReadConfigFile(Context& context, const std::string& path);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_CONFIG_FILE_H_
