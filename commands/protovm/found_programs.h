#ifndef RINGSCOPE_COMMANDS_PROTOVM_FOUND_PROGRAMS_H_
#define RINGSCOPE_COMMANDS_PROTOVM_FOUND_PROGRAMS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/shell/context.h"

namespace ringscope {

/// A program (ProtoVM) in a file, with what the file has of it.
struct FoundProgram {
  std::string program;                      // a VmProgram message
  std::string data_source;                  // empty: not known
  std::vector<uint64_t> producers;          // in order of appearance
  std::optional<uint64_t> memory_limit_kb;  // absent: not known
  std::optional<std::string> state;         // absent: the file has none
  std::string message = "TracePacket";      // type of the packets; empty: not known
};

/// The programs of a file, each once: those that data sources of a log have, those of a trace with
/// their states, or the one that the file is.
Result<std::vector<FoundProgram>> FindPrograms(Context& context, const std::string& path);

/// The bytes of a file that is a message.
Result<std::string> ReadMessageFile(Context& context, const std::string& path);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PROTOVM_FOUND_PROGRAMS_H_
