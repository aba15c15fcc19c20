#ifndef RINGSCOPE_COMMANDS_SHELL_DESCRIPTOR_OPTION_H_
#define RINGSCOPE_COMMANDS_SHELL_DESCRIPTOR_OPTION_H_

#include <memory>
#include <string>

#include "commands/shell/cli_fwd.h"
#include "commands/shell/context.h"
#include "formats/descriptors/descriptors.h"

namespace ringscope {

/// The option --descriptor FILE. A command with --config has it by AddConfig.
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

#endif  // RINGSCOPE_COMMANDS_SHELL_DESCRIPTOR_OPTION_H_
