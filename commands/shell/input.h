#ifndef RINGSCOPE_COMMANDS_SHELL_INPUT_H_
#define RINGSCOPE_COMMANDS_SHELL_INPUT_H_

#include <memory>
#include <string>

#include "commands/shell/command.h"
#include "core/base/result.h"
#include "formats/inputs/input_kind.h"
#include "formats/io/byte_stream.h"

namespace ringscope {

/// Opens a file that a command line names, or for "-" the run's standard input.
Result<std::unique_ptr<ByteSource>> OpenInput(Context& context, const std::string& path);
/// Opens an input, and finds its kind.
Result<KnownInput> OpenKnownInput(Context& context, const std::string& path);
/// Opens a trace or a log; of a zip archive or a folder, the one trace in it.
Result<KnownInput> OpenOneInput(Context& context, const std::string& path);

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

#endif  // RINGSCOPE_COMMANDS_SHELL_INPUT_H_
