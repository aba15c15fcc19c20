#ifndef RINGSCOPE_CORE_PROTOVM_PROGRAM_CHECK_H_
#define RINGSCOPE_CORE_PROTOVM_PROGRAM_CHECK_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/enum_names.h"
#include "core/protovm/vm_outcome.h"
#include "core/protovm/vm_program.h"

namespace ringscope {
namespace protovm {

/// What is wrong with an instruction, whatever the packet is.
enum class Flaw : uint8_t {
  kAborts,           // a run that gets here ends with an abort, for `reason`
  kAbortsOrCrashes,  // the same since v56; v54 and v55 crash
  kNeverReached,     // one before it, or the one that it is nested in, aborts
  kMayCrash,         // the service crashes if the source is a scalar
  kIgnoredFlag,      // a flag of merge has no effect before release `since`
  kOtherOrder,       // both flags of merge: an empty field was skipped before release `since`
  kOverLimit,        // what is to be created does not fit into the limit: an abort
};

}  // namespace protovm

template <>
inline constexpr std::array kEnumNames<protovm::Flaw> = {
    "aborts",       "aborts_or_crashes", "never_reached", "may_crash",
    "ignored_flag", "other_order",       "over_limit"};

namespace protovm {

struct ProgramFinding {
  uint32_t instruction = 0;  // index in the program
  Flaw finding{};
  Reason reason = Reason::kNone;
  const char* flag = nullptr;  // kIgnoredFlag
  uint32_t since = 0;          // release

  friend bool operator==(const ProgramFinding&, const ProgramFinding&) = default;
};

/// What a program has that cannot do what it seems to, in order of its instructions. Only what
/// holds for every packet is found.
/// @param limit of the state, in bytes as v58 counts them; absent: not known
std::vector<ProgramFinding> CheckProgram(const Program& program, std::optional<uint64_t> limit);

}  // namespace protovm
}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PROTOVM_PROGRAM_CHECK_H_
