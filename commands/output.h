#ifndef RINGSCOPE_COMMANDS_OUTPUT_H_
#define RINGSCOPE_COMMANDS_OUTPUT_H_

#include <memory>
#include <string>

#include "commands/context.h"
#include "formats/byte_stream.h"

namespace ringscope {

/// A file that appears once it is whole, or for "-" the run's standard output.
/// @param binary refuses a terminal
Result<std::unique_ptr<OutputFile>> CreateOutput(Context& context, const std::string& path,
                                                 bool binary);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_OUTPUT_H_
