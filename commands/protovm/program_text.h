#ifndef RINGSCOPE_COMMANDS_PROTOVM_PROGRAM_TEXT_H_
#define RINGSCOPE_COMMANDS_PROTOVM_PROGRAM_TEXT_H_

#include <string>

#include "commands/protovm/program_names.h"
#include "core/protovm/vm_program.h"

namespace ringscope {

/// An instruction in a line: "select DST 1[2=r0] create".
/// @param index of it; @param names of the program's fields; nullptr: numbers
std::string InstructionText(const protovm::Program& program, uint32_t index,
                            const ProgramNames* names);

/// A program as a listing: an instruction per line, with its place in front ("2.0.1": the second
/// of those nested in the first of those nested in the third), nested ones indented.
std::string ProgramText(const protovm::Program& program, const ProgramNames* names);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PROTOVM_PROGRAM_TEXT_H_
