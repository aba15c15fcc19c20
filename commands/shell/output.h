#ifndef RINGSCOPE_COMMANDS_SHELL_OUTPUT_H_
#define RINGSCOPE_COMMANDS_SHELL_OUTPUT_H_

#include <memory>
#include <string>

#include "commands/shell/context.h"
#include "formats/io/byte_stream.h"

namespace ringscope {

/// A file that appears once it is whole, or for "-" the run's standard output.
/// @param binary refuses a terminal
Result<std::unique_ptr<OutputFile>> CreateOutput(Context& context, const std::string& path,
                                                 bool binary);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SHELL_OUTPUT_H_
