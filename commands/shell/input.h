#ifndef RINGSCOPE_COMMANDS_SHELL_INPUT_H_
#define RINGSCOPE_COMMANDS_SHELL_INPUT_H_

#include <memory>
#include <string>

#include "commands/shell/context.h"
#include "formats/inputs/input_kind.h"
#include "formats/io/byte_stream.h"

namespace ringscope {

/// Opens a file, or for "-" the run's standard input. Everything that a command line names is
/// opened by this.
Result<std::unique_ptr<ByteSource>> OpenInput(Context& context, const std::string& path);
/// The same, and what kind of input it is.
Result<KnownInput> OpenKnownInput(Context& context, const std::string& path);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_INPUT_H_
