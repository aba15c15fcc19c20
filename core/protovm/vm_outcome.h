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
inline constexpr auto kEnumRows<protovm::Reason> = EnumTable<EnumRow<protovm::Reason>>({
    {protovm::Reason::kNone, "none", "nothing is wrong"},
    {protovm::Reason::kNoSourceField, "no_source_field", "the packet has no such field"},
    {protovm::Reason::kNoSourceElement, "no_source_element",
     "the packet's field has no such element"},
    {protovm::Reason::kNoField, "no_field",
     "the state has no such field, and the instruction does not create it"},
    {protovm::Reason::kNoInstruction, "no_instruction",
     "the instruction is empty or of an unknown kind"},
    {protovm::Reason::kCreateInSource, "create_in_source",
     "create_if_not_exist is for the state, and the cursor is the packet's"},
    {protovm::Reason::kNoFieldId, "no_field_id", "a path continues without a field_id"},
    {protovm::Reason::kLoopCursor, "loop_cursor",
     "is_repeated needs the cursor VM_CURSOR_SRC or VM_CURSOR_DST"},
    {protovm::Reason::kKeyInSource, "key_in_source",
     "a packet's fields cannot be looked up by key"},
    {protovm::Reason::kNoRegisterToMatch, "no_register_to_match",
     "map_key_field_id is without register_to_match"},
    {protovm::Reason::kNoSuchRegister, "no_such_register", "registers are 0 to 31"},
    {protovm::Reason::kRegisterNotLoaded, "register_not_loaded", "the register was not loaded yet"},
    {protovm::Reason::kSourceNotMessage, "source_not_message",
     "a message is expected in the packet, and a scalar is there"},
    {protovm::Reason::kSourceNotScalar, "source_not_scalar",
     "a scalar is expected in the packet, and a length-delimited field is there"},
    {protovm::Reason::kNotMessage, "not_message",
     "a message is expected in the state, and a scalar or repeated field is there"},
    {protovm::Reason::kNotIndexed, "not_indexed",
     "the state's field has elements by key, and one by index is asked for"},
    {protovm::Reason::kNotMapped, "not_mapped",
     "the state's field is a scalar, and an element by key is asked for"},
    {protovm::Reason::kNoKey, "no_key",
     "an element of the state lacks the key field, or it is not a scalar"},
    {protovm::Reason::kNotScalar, "not_scalar",
     "a scalar is expected in the state, and something else is there"},
    {protovm::Reason::kFieldIsRepeated, "field_is_repeated",
     "the state's field is repeated, and a single one is asked for"},
    {protovm::Reason::kIndexBeyondEnd, "index_beyond_end",
     "the index is more than the number of elements in the state"},
    {protovm::Reason::kOtherType, "other_type",
     "what is in the state is of another type than what it is to be set to"},
    {protovm::Reason::kFieldIsMapped, "field_is_mapped",
     "the state's field has elements by key, and cannot be merged"},
    {protovm::Reason::kMemoryLimit, "memory_limit", "the state is at its memory limit"},
    {protovm::Reason::kCursorDeleted, "cursor_deleted",
     "the cursor points to what was deleted before"},
    {protovm::Reason::kWouldDangle, "would_dangle",
     "the deletion would invalidate the cursor of an enclosing select"},
    {protovm::Reason::kScalarAtRoot, "scalar_at_root",
     "the state itself would become a scalar, which cannot be written"},
    {protovm::Reason::kTooManySteps, "too_many_steps",
     "the run needs more steps than ringscope allows"},
});

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PROTOVM_VM_OUTCOME_H_
