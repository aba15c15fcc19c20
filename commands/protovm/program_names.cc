#include "commands/protovm/program_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ringscope {
namespace {

using protovm::Instruction;
using protovm::OpCode;
using protovm::PathPart;

/// "the packet", "field 'value'": what a cursor is at.
std::string AtText(const std::optional<DescribedField>& field) {
  return field ? fmt::format("'{}'", field->name) : std::string("a whole message");
}

}  // namespace

ProgramNames::ProgramNames(const protovm::Program& program, const Descriptors& descriptors,
                           const std::string& message)
    : program_(program),
      descriptors_(descriptors),
      paths_(program.all().size()),
      places_(program.all().size()) {
  const Cursor root{.is_known = true, .message = message, .field = {}};
  // Lists follow those that they are nested in.
  for (uint32_t i = 0; i < program.all().size(); ++i) {
    const Instruction& instruction = program.all()[i];
    places_[i] = instruction.parent == UINT32_MAX ? Place{root, root} : places_[instruction.parent];
    if (instruction.op == OpCode::kSelect)
      Walk(i, instruction,
           instruction.cursor == protovm::kCursorSrc ? places_[i].src : places_[i].dst);
    else
      CheckOp(i, instruction, places_[i]);
  }
}

std::string ProgramNames::FieldText(const std::string& message, uint32_t number) const {
  const std::string name = message.empty() ? "" : descriptors_.FieldName(message, number);
  return name.empty() ? std::to_string(number) : name;
}

void ProgramNames::Note(uint32_t index, Misfit misfit, std::string text) {
  misfits_.push_back({index, misfit, std::move(text)});
}

void ProgramNames::Walk(uint32_t index, const Instruction& select, Cursor& cursor) {
  std::string& text = paths_[index];
  for (const PathPart& part : program_.PathOf(select)) {
    if (part.has_field_id) {
      text += fmt::format("{}{}{}", text.empty() ? " " : ".",
                          FieldText(cursor.is_known ? cursor.message : "", part.field_id),
                          part.is_repeated ? "[*]" : "");
      Step(index, part, cursor);
    } else if (part.has_array_index) {
      text += fmt::format("[{}]", part.array_index);
      if (cursor.is_known && cursor.field && !cursor.field->is_repeated && part.array_index > 0)
        Note(index, Misfit::kNoSuchElement,
             fmt::format("'{}' is not repeated: it has no element {}", cursor.field->name,
                         part.array_index));
    } else if (part.has_map_key) {
      text += fmt::format("[{}={}]",
                          FieldText(cursor.is_known ? cursor.message : "", part.map_key_field_id),
                          part.has_register ? fmt::format("r{}", part.register_to_match) : "?");
      CheckKey(index, part, cursor);
    } else {
      text += "[?]";
    }
  }
}

/// Enters a field.
void ProgramNames::Step(uint32_t index, const PathPart& part, Cursor& cursor) {
  if (!cursor.is_known) return;
  if (cursor.message.empty()) {
    Note(index, Misfit::kNotAMessage,
         fmt::format("the path continues in {}, which is not a message", AtText(cursor.field)));
    cursor.is_known = false;
    return;
  }
  auto field = descriptors_.FieldOf(cursor.message, part.field_id);
  if (!field) {
    Note(index, Misfit::kNoSuchField,
         fmt::format("{} has no field {}", cursor.message, part.field_id));
    cursor.is_known = false;
    return;
  }
  cursor.message = field->message;
  cursor.field = std::move(field);
}

void ProgramNames::CheckKey(uint32_t index, const PathPart& key, const Cursor& cursor) {
  if (!cursor.is_known || !cursor.field) return;
  const auto field = descriptors_.FieldOf(cursor.message, key.map_key_field_id);
  if (cursor.message.empty())
    Note(index, Misfit::kBadKey,
         fmt::format("elements of '{}' are not messages, and have no keys", cursor.field->name));
  else if (!field)
    Note(index, Misfit::kBadKey,
         fmt::format("{} has no field {} to be found by", cursor.message, key.map_key_field_id));
  else if (!field->is_scalar || field->is_repeated)
    Note(index, Misfit::kBadKey,
         fmt::format("'{}' of {} is not a number, as a key must be", field->name, cursor.message));
}

/// What is not a select, at its place.
void ProgramNames::CheckOp(uint32_t index, const Instruction& instruction, const Place& place) {
  const auto is_number = [](const Cursor& cursor) {
    return cursor.field && cursor.field->is_scalar;
  };
  switch (instruction.op) {
    case OpCode::kRegLoad: {
      const Cursor& cursor = instruction.cursor == protovm::kCursorSrc ? place.src : place.dst;
      if (cursor.is_known && !is_number(cursor))
        Note(index, Misfit::kNotANumber, fmt::format("{} is not a number", AtText(cursor.field)));
      return;
    }
    case OpCode::kMerge:
      for (const Cursor* const cursor : {&place.src, &place.dst}) {
        if (cursor->is_known && cursor->message.empty())
          Note(index, Misfit::kNotAMessage,
               fmt::format("{} is not a message to be merged", AtText(cursor->field)));
      }
      return;
    case OpCode::kSet:
      if (!place.src.is_known || !place.dst.is_known) return;
      if (place.src.message != place.dst.message || is_number(place.src) != is_number(place.dst))
        Note(index, Misfit::kOtherType,
             fmt::format("{} is of another type than {}, which it is set to",
                         AtText(place.dst.field), AtText(place.src.field)));
      return;
    default:
      return;
  }
}

}  // namespace ringscope
