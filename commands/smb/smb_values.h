#ifndef RINGSCOPE_COMMANDS_SMB_SMB_VALUES_H_
#define RINGSCOPE_COMMANDS_SMB_SMB_VALUES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/smb/memory_trial.h"

namespace ringscope {

// How the values of smb's options are written. All errors are kUsage.

/// Sizes of shared memory: "128k,256k", or "128k..1M", each twice the one before.
Result<std::vector<uint64_t>> ParseMemorySizes(std::string_view text);
/// Page sizes: "4k,32k".
Result<std::vector<uint64_t>> ParsePageSizes(std::string_view text);
/// "drop", "stall" or "drop,stall"
Result<std::vector<smb::WhenNoneIsFree>> ParseMemoryPolicies(std::string_view text);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SMB_SMB_VALUES_H_
