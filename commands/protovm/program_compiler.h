#ifndef RINGSCOPE_COMMANDS_PROTOVM_PROGRAM_COMPILER_H_
#define RINGSCOPE_COMMANDS_PROTOVM_PROGRAM_COMPILER_H_

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "formats/descriptors/descriptors.h"

namespace ringscope {

/// A program that was compiled from its description, a CompileConfig in protobuf's text format.
struct CompiledProgram {
  std::string program;       // a VmProgram message
  std::string root_message;  // of packets and state
};

/// @param path of the description, for messages
/// @param descriptors with the messages that the description names
/// kCorrupt names the command, and what is wrong with it.
Result<CompiledProgram> CompileProgram(std::string_view description, const std::string& path,
                                       const Descriptors& descriptors);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PROTOVM_PROGRAM_COMPILER_H_
