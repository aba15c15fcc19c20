#ifndef RINGSCOPE_COMMANDS_PROTOVM_PROGRAM_NAMES_H_
#define RINGSCOPE_COMMANDS_PROTOVM_PROGRAM_NAMES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/enum_names.h"
#include "core/protovm/vm_program.h"
#include "formats/descriptors/descriptors.h"

namespace ringscope {

/// How an instruction does not fit the messages that packets and state are.
enum class Misfit : uint8_t {
  kNoSuchField,    // the message has none of this number: no packet matches
  kNotAMessage,    // the path continues in, or merge is of, what is no message
  kNoSuchElement,  // an index in a field that is not repeated
  kBadKey,         // elements have no such number to be found by
  kNotANumber,     // reg_load of something else
  kOtherType,      // set of a field by one of another type
};
template <>
inline constexpr std::array kEnumNames<Misfit> = {
    "no_such_field", "not_a_message", "no_such_element", "bad_key", "not_a_number", "other_type"};

struct MisfitFinding {
  uint32_t instruction = 0;
  Misfit misfit{};
  std::string text;
};

/// The names of the fields that a program's paths go through.
class ProgramNames {
 public:
  /// @param message that packets and states are
  ProgramNames(const protovm::Program& program, const Descriptors& descriptors,
               const std::string& message);

  /// The path of a select: " for_testing.messages[*]"; fields that are not known have their number.
  const std::string& PathOf(uint32_t instruction) const { return paths_[instruction]; }
  /// In order of the instructions.
  const std::vector<MisfitFinding>& misfits() const { return misfits_; }

 private:
  /// Where a cursor is.
  struct Cursor {
    bool is_known = true;
    std::string message;                  // empty: at no message
    std::optional<DescribedField> field;  // absent: at the root
  };
  struct Place {
    Cursor src, dst;
  };

  void Walk(uint32_t index, const protovm::Instruction& select, Cursor& cursor);
  void Step(uint32_t index, const protovm::PathPart& part, Cursor& cursor);
  void CheckKey(uint32_t index, const protovm::PathPart& key, const Cursor& cursor);
  void CheckOp(uint32_t index, const protovm::Instruction& instruction, const Place& place);
  std::string FieldText(const std::string& message, uint32_t number) const;
  void Note(uint32_t index, Misfit misfit, std::string text);

  const protovm::Program& program_;
  const Descriptors& descriptors_;
  std::vector<std::string> paths_;
  std::vector<Place> places_;
  std::vector<MisfitFinding> misfits_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_PROTOVM_PROGRAM_NAMES_H_
