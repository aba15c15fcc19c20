#ifndef RINGSCOPE_COMMANDS_PROTOVM_PROGRAM_TEXT_H_
#define RINGSCOPE_COMMANDS_PROTOVM_PROGRAM_TEXT_H_

#include <string>

#include "core/protovm/vm_program.h"
#include "formats/descriptors/descriptors.h"

namespace ringscope {

/// Returns a listing of a program with one instruction per line. The instruction's place is first
/// ("2.0.1": the second of those nested in the first of those nested in the third), nested
/// instructions are indented.
/// @param message type of the packets, whose fields are named; empty: fields have their numbers
std::string ProgramText(const protovm::Program& program, const Descriptors& descriptors,
                        const std::string& message);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PROTOVM_PROGRAM_TEXT_H_
