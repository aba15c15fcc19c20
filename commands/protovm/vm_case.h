#ifndef RINGSCOPE_COMMANDS_PROTOVM_VM_CASE_H_
#define RINGSCOPE_COMMANDS_PROTOVM_VM_CASE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/protovm/proto_vm.h"

namespace ringscope {

/// What a VM is made of, and the packets that it is to run on.
struct VmCase {
  std::string program;
  std::string initial_state;
  uint64_t limit = 0;  // bytes
  std::vector<std::string> packets;
};

/// Reads a case as JSON: `program`, `initial_state` (hex), `memory_limit_bytes` or
/// `memory_limit_kb`, `packets` (array of hex). Other keys are ignored.
Result<VmCase> ParseVmCase(std::string_view text, const std::string& path);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PROTOVM_VM_CASE_H_
