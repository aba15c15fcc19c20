#include "core/protovm/vm_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace ringscope::protovm {
namespace {

/// By field number of an instruction; 0: none.
constexpr std::array kOpCodes = {OpCode::kNone,  OpCode::kSelect, OpCode::kRegLoad,
                                 OpCode::kMerge, OpCode::kSet,    OpCode::kDel};

uint32_t AsUint(const VmField& field) { return static_cast<uint32_t>(field.value); }

PathPart DecodePart(Bytes encoded) {
  PathPart part;
  VmFields fields(encoded);
  for (VmField field; fields.Next(field);) {
    if (field.number == 1) part.field_id = AsUint(field);
    if (field.number == 2) part.array_index = AsUint(field);
    if (field.number == 3) part.map_key_field_id = AsUint(field);
    if (field.number == 5) part.is_repeated = field.value != 0;
    if (field.number == 6) part.register_to_match = AsUint(field);
  }
  return part;
}

void DecodeSelect(Bytes encoded, Instruction& out, std::vector<PathPart>& parts) {
  out.path = static_cast<uint32_t>(parts.size());
  VmFields fields(encoded);
  for (VmField field; fields.Next(field);) {
    if (field.number == 1) out.cursor = AsUint(field);
    if (field.number == 2 && !field.is_scalar()) parts.push_back(DecodePart(field.bytes));
    if (field.number == 3) out.create = field.value != 0;
  }
  out.path_size = static_cast<uint32_t>(parts.size()) - out.path;
}

void DecodeRegLoad(Bytes encoded, Instruction& out) {
  VmFields fields(encoded);
  for (VmField field; fields.Next(field);) {
    if (field.number == 1) out.cursor = AsUint(field);
    if (field.number == 2) out.reg = static_cast<uint8_t>(field.value);
  }
}

void DecodeMerge(Bytes encoded, Instruction& out) {
  VmFields fields(encoded);
  for (VmField field; fields.Next(field);) {
    if (field.number == 1) out.skip_submessages = field.value != 0;
    if (field.number == 2) out.del_if_src_empty = field.value != 0;
  }
}

}  // namespace

// Breadth first, so that the instructions of a list follow one another, and without recursion:
// the depth of a program is limited by nothing but its size.
Program::Program(Bytes encoded) {
  std::vector<Bytes> bodies;  // by instruction
  VmFields outer(encoded);
  for (VmField field; outer.Next(field);) {
    if (field.number == 1) version_ = AsUint(field);
    if (field.number != 2 || field.is_scalar()) continue;
    Instruction& added = instructions_.emplace_back();
    added.place = static_cast<uint32_t>(bodies.size());
    bodies.push_back(field.bytes);
  }
  top_size_ = static_cast<uint32_t>(instructions_.size());
  for (uint32_t i = 0; i < instructions_.size(); ++i) {
    std::array<std::optional<Bytes>, kOpCodes.size()> ops;  // encoded, by OpCode
    uint32_t abort_level = kBreakOuter;
    const auto nested = static_cast<uint32_t>(instructions_.size());
    VmFields fields(bodies[i]);
    for (VmField field; fields.Next(field);) {
      if (field.is_scalar()) field.bytes = {};
      if (field.number >= 1 && field.number < kOpCodes.size()) {
        ops[static_cast<size_t>(kOpCodes[field.number])] = field.bytes;
      } else if (field.number == 6) {
        abort_level = AsUint(field);
      } else if (field.number == 7 && !field.is_scalar()) {
        Instruction child;
        child.parent = i;
        child.place = static_cast<uint32_t>(instructions_.size()) - nested;
        instructions_.push_back(child);
        bodies.push_back(field.bytes);
      }
    }
    Instruction& out = instructions_[i];
    out.abort_level = abort_level;
    out.nested = nested;
    out.nested_size = static_cast<uint32_t>(instructions_.size()) - nested;
    // If there are several, the first in the order of OpCode counts.
    const auto op = std::ranges::find_if(ops, [](const auto& bytes) { return bytes.has_value(); });
    if (op == ops.end()) continue;
    out.op = static_cast<OpCode>(op - ops.begin());
    if (out.op == OpCode::kSelect) DecodeSelect(**op, out, parts_);
    if (out.op == OpCode::kRegLoad) DecodeRegLoad(**op, out);
    if (out.op == OpCode::kMerge) DecodeMerge(**op, out);
  }
}

std::vector<uint32_t> Program::PlacesOf(uint32_t index) const {
  std::vector<uint32_t> places;
  for (uint32_t i = index; i != UINT32_MAX; i = instructions_[i].parent)
    places.push_back(instructions_[i].place);
  std::ranges::reverse(places);
  return places;
}

std::string Program::PlaceOf(uint32_t index) const {
  return fmt::format("instructions[{}]", fmt::join(PlacesOf(index), "].nested_instructions["));
}

}  // namespace ringscope::protovm
