#ifndef RINGSCOPE_CORE_PROTOVM_VM_OUTCOME_H_
#define RINGSCOPE_CORE_PROTOVM_VM_OUTCOME_H_

#include <cstdint>

#include "core/base/enum_names.h"

namespace ringscope {
namespace protovm {

/// How a run on a packet ended.
enum class RunResult : uint8_t {
  kOk,
  kError,
  kAbort,
  kCrash,    // the released service would crash here; the VM does not run any more
  kTooLong,  // the run needs more steps than are allowed; the VM does not run any more
};

/// Why an instruction did not end as ok.
enum class Reason : uint8_t {
  kNone,
  // Errors: not there.
  kNoSourceField,
  kNoSourceElement,
  kNoField,
  // Aborts: the program or the data is not what the other expects.
  kNoInstruction,
  kCreateInSource,
  kNoFieldId,
  kLoopCursor,
  kKeyInSource,
  kNoRegisterToMatch,
  kNoSuchRegister,
  kRegisterNotLoaded,
  kSourceNotMessage,
  kSourceNotScalar,
  kNotMessage,
  kNotIndexed,
  kNotMapped,
  kNoKey,
  kNotScalar,
  kFieldIsRepeated,
  kIndexBeyondEnd,
  kOtherType,
  kFieldIsMapped,
  kMemoryLimit,
  kCursorDeleted,
  kWouldDangle,
  // Ends of the VM.
  kScalarAtRoot,
  kTooManySteps,
};

}  // namespace protovm

template <>
inline constexpr std::array kEnumNames<protovm::RunResult> = {"ok", "error", "abort", "crash",
                                                              "too_long"};
template <>
inline constexpr std::array kEnumNames<protovm::Reason> = {
    "none",
    "no_source_field",
    "no_source_element",
    "no_field",
    "no_instruction",
    "create_in_source",
    "no_field_id",
    "loop_cursor",
    "key_in_source",
    "no_register_to_match",
    "no_such_register",
    "register_not_loaded",
    "source_not_message",
    "source_not_scalar",
    "not_message",
    "not_indexed",
    "not_mapped",
    "no_key",
    "not_scalar",
    "field_is_repeated",
    "index_beyond_end",
    "other_type",
    "field_is_mapped",
    "memory_limit",
    "cursor_deleted",
    "would_dangle",
    "scalar_at_root",
    "too_many_steps",
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PROTOVM_VM_OUTCOME_H_
