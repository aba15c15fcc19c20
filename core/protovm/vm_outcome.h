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

namespace protovm {

/// The reasons in words, in their order.
inline constexpr std::array kReasonTexts = {
    "nothing is wrong",
    "the packet has no such field",
    "the packet's field has no such element",
    "the state has no such field, and the instruction does not create it",
    "the instruction is empty or of an unknown kind",
    "create_if_not_exist is for the state, and the cursor is the packet's",
    "a path continues without a field_id",
    "is_repeated needs the cursor VM_CURSOR_SRC or VM_CURSOR_DST",
    "a packet's fields cannot be looked up by key",
    "map_key_field_id is without register_to_match",
    "registers are 0 to 31",
    "the register was not loaded yet",
    "a message is expected in the packet, and a scalar is there",
    "a scalar is expected in the packet, and a length-delimited field is there",
    "a message is expected in the state, and a scalar or repeated field is there",
    "the state's field has elements by key, and one by index is asked for",
    "the state's field is a scalar, and an element by key is asked for",
    "an element of the state lacks the key field, or it is not a scalar",
    "a scalar is expected in the state, and something else is there",
    "the state's field is repeated, and a single one is asked for",
    "the index is more than the number of elements in the state",
    "what is in the state is of another type than what it is to be set to",
    "the state's field has elements by key, and cannot be merged",
    "the state is at its memory limit",
    "the cursor points to what was deleted before",
    "the deletion would invalidate the cursor of an enclosing select",
    "the state itself would become a scalar, which cannot be written",
    "the run needs more steps than ringscope allows",
};
static_assert(kReasonTexts.size() == kEnumNames<Reason>.size());
inline const char* Describe(Reason reason) { return kReasonTexts.at(static_cast<size_t>(reason)); }

}  // namespace protovm
}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PROTOVM_VM_OUTCOME_H_
