#ifndef RINGSCOPE_COMMANDS_SHELL_CONFIG_FILE_H_
#define RINGSCOPE_COMMANDS_SHELL_CONFIG_FILE_H_

#include <memory>
#include <string>

#include "commands/shell/cli_fwd.h"
#include "commands/shell/context.h"
#include "core/base/result.h"
#include "formats/descriptors/descriptors.h"

namespace ringscope {

/// A trace config that the user names, in protobuf's text format.
struct ConfigFile {
  std::string text;   // as it is
  std::string bytes;  // the TraceConfig message
};

/// Adds --config FILE, and --descriptor FILE for fields that the built-in descriptors lack.
/// @param what the config is for
void AddConfig(CLI::App& app, std::string& config, std::string& descriptor,
               const std::string& what);

/// @param path "-": standard input
/// @param descriptor of the option --descriptor; empty: the built-in names
Result<ConfigFile> ReadConfigFile(Context& context, const std::string& path,
                                  const std::string& descriptor);

/// Adds --descriptor FILE alone.
void AddDescriptor(CLI::App& app, std::string& path);

/// The names of fields that a command writes packets with.
class DescriptorChoice {
 public:
  /// @param path of --descriptor; empty: the built-in ones
  static Result<DescriptorChoice> Open(Context& context, const std::string& path);

  const Descriptors& get() const { return extended_ ? *extended_ : Descriptors::BuiltIn(); }

 private:
  std::unique_ptr<Descriptors> extended_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_CONFIG_FILE_H_
