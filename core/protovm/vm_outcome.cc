#include "core/protovm/vm_outcome.h"

namespace ringscope::protovm {

const char* Describe(Reason reason) {
  switch (reason) {
    case Reason::kNone:
      return "nothing is wrong";
    case Reason::kNoSourceField:
      return "the packet has no such field";
    case Reason::kNoSourceElement:
      return "the packet's field has no such element";
    case Reason::kNoField:
      return "the state has no such field, and the instruction does not create it";
    case Reason::kNoInstruction:
      return "the instruction is empty or of an unknown kind";
    case Reason::kCreateInSource:
      return "create_if_not_exist is for the state, and the cursor is the packet's";
    case Reason::kNoFieldId:
      return "a path continues without a field_id";
    case Reason::kLoopCursor:
      return "is_repeated needs the cursor VM_CURSOR_SRC or VM_CURSOR_DST";
    case Reason::kKeyInSource:
      return "a packet's fields cannot be looked up by key";
    case Reason::kNoRegisterToMatch:
      return "map_key_field_id is without register_to_match";
    case Reason::kNoSuchRegister:
      return "registers are 0 to 31";
    case Reason::kRegisterNotLoaded:
      return "the register was not loaded yet";
    case Reason::kSourceNotMessage:
      return "a message is expected in the packet, and a scalar is there";
    case Reason::kSourceNotScalar:
      return "a scalar is expected in the packet, and a length-delimited field is there";
    case Reason::kNotMessage:
      return "a message is expected in the state, and a scalar or repeated field is there";
    case Reason::kNotIndexed:
      return "the state's field has elements by key, and one by index is asked for";
    case Reason::kNotMapped:
      return "the state's field is a scalar, and an element by key is asked for";
    case Reason::kNoKey:
      return "an element of the state lacks the key field, or it is not a scalar";
    case Reason::kNotScalar:
      return "a scalar is expected in the state, and something else is there";
    case Reason::kFieldIsRepeated:
      return "the state's field is repeated, and a single one is asked for";
    case Reason::kIndexBeyondEnd:
      return "the index is more than the number of elements in the state";
    case Reason::kOtherType:
      return "what is in the state is of another type than what it is to be set to";
    case Reason::kFieldIsMapped:
      return "the state's field has elements by key, and cannot be merged";
    case Reason::kMemoryLimit:
      return "the state is at its memory limit";
    case Reason::kCursorDeleted:
      return "the cursor points to what was deleted before";
    case Reason::kWouldDangle:
      return "the deletion would invalidate the cursor of an enclosing select";
    case Reason::kScalarAtRoot:
      return "the state itself would become a scalar, which cannot be written";
    case Reason::kTooManySteps:
      return "the run needs more steps than ringscope allows";
  }
  return "";
}

}  // namespace ringscope::protovm
