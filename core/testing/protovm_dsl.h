#ifndef RINGSCOPE_CORE_TESTING_PROTOVM_DSL_H_
#define RINGSCOPE_CORE_TESTING_PROTOVM_DSL_H_

#include <initializer_list>
#include <string>

#include "core/testing/message_text.h"

namespace ringscope::testing::vm {

// Programs of ProtoVM and messages for them, written as they nest:
//
//   ProgramOf({SelectSrc({Field(1)}, {SelectDst({Field(2)}, {Set()})})})

using List = std::initializer_list<std::string>;
using testing::Sub;
using testing::Uint;

inline std::string Join(List parts) {
  std::string out;
  for (const std::string& part : parts) out += part;
  return out;
}
inline std::string Join(uint32_t number, List parts) {
  std::string out;
  for (const std::string& part : parts) out += Sub(number, part);
  return out;
}

// Parts of a path.
inline std::string Field(uint32_t id) { return Uint(1, id); }
inline std::string Each(uint32_t id) { return Uint(1, id) + Uint(5, 1); }
inline std::string Index(uint32_t index) { return Uint(2, index); }
inline std::string Key(uint32_t field, uint32_t reg) { return Uint(3, field) + Uint(6, reg); }

// Instructions.
inline std::string SelectSrc(List path, List nested) {
  return Sub(1, Join(2, path)) + Join(7, nested);
}
inline std::string SelectDst(List path, List nested, bool create = true) {
  return Sub(1, Uint(1, 2) + Join(2, path) + (create ? Uint(3, 1) : "")) + Join(7, nested);
}
inline std::string Load(uint32_t reg) { return Sub(2, Uint(2, reg)); }
inline std::string Merge(const std::string& flags = {}) { return Sub(3, flags); }
inline std::string Set() { return Sub(4, {}); }
inline std::string Del() { return Sub(5, {}); }
inline std::string Level(uint32_t abort_level) { return Uint(6, abort_level); }

inline std::string ProgramOf(List instructions, uint32_t version = 0) {
  return (version == 0 ? std::string() : Uint(1, version)) + Join(2, instructions);
}

/// The usual program on elements {1: id, ...}: the packet's field 1 deletes elements by id, field 2
/// merges and field 3 sets them, in the state's field 1.
inline std::string ElementsProgram() {
  const std::string load = SelectSrc({Field(1)}, {Load(0)});
  return ProgramOf(
      {SelectSrc({Each(1)}, {Load(0), SelectDst({Field(1), Key(1, 0)}, {Del()}, false)}),
       SelectSrc({Each(2)}, {load, SelectDst({Field(1), Key(1, 0)}, {Merge()})}),
       SelectSrc({Each(3)}, {load, SelectDst({Field(1), Key(1, 0)}, {Set()})})},
      1);
}
inline std::string Element(uint64_t id, uint64_t value) { return Uint(1, id) + Uint(2, value); }

}  // namespace ringscope::testing::vm

#endif  // RINGSCOPE_CORE_TESTING_PROTOVM_DSL_H_
