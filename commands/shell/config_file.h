#ifndef RINGSCOPE_COMMANDS_SHELL_CONFIG_FILE_H_
#define RINGSCOPE_COMMANDS_SHELL_CONFIG_FILE_H_

#include <string>

#include "commands/shell/context.h"
#include "core/base/result.h"

namespace ringscope {

/// A trace config that the user names, in protobuf's text format.
struct ConfigFile {
  std::string text;   // as it is
  std::string bytes;  // the TraceConfig message
};

/// @param path "-": standard input
/// @param descriptor of the command's option --descriptor; empty: the built-in names. nullptr: the
/// command has no such option
Result<ConfigFile> ReadConfigFile(Context& context, const std::string& path,
                                  const std::string* descriptor = nullptr);


/// Whether --descriptor has a config to be used for.
Status CheckDescriptorUse(const std::string& descriptor, const std::string& config);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_CONFIG_FILE_H_
