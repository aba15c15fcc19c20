#include "commands/protovm/program_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace ringscope {
namespace {

using protovm::Instruction;
using protovm::OpCode;
using protovm::PathPart;
using protovm::Program;

/// Deeper instructions are not indented any further.
constexpr size_t kMaxIndent = 24;

/// The messages that the cursors of a run are at. Empty: not known.
struct Cursors {
  std::string src, dst;
};

std::string CursorText(uint32_t cursor) {
  if (cursor == protovm::kCursorSrc) return "SRC";
  if (cursor == protovm::kCursorDst) return "DST";
  return cursor == 3 ? "BOTH" : fmt::format("cursor {}", cursor);
}

/// Returns a path as text, and moves `message` to the message at its end.
std::string PathText(std::span<const PathPart> path, const Descriptors& descriptors,
                     std::string& message) {
  std::string text;
  const auto name_of = [&](uint32_t number) {
    const std::string name = descriptors.FieldName(message, number);
    return name.empty() ? std::to_string(number) : name;
  };
  for (const PathPart& part : path) {
    if (part.has_field_id) {
      text += fmt::format("{}{}{}", text.empty() ? " " : ".", name_of(part.field_id),
                          part.is_repeated ? "[*]" : "");
      const auto field = descriptors.FieldOf(message, part.field_id);
      message = field ? field->message : std::string();
    } else if (part.has_array_index) {
      text += fmt::format("[{}]", part.array_index);
    } else if (part.has_map_key) {
      text += fmt::format("[{}={}]", name_of(part.map_key_field_id),
                          part.has_register ? fmt::format("r{}", part.register_to_match) : "?");
    } else {
      text += "[?]";
    }
  }
  return text;
}

std::string LevelText(uint32_t abort_level) {
  if (abort_level == protovm::kBreakOuter) return "";
  if (abort_level == protovm::kAbortRun) return "  (on error: abort)";
  return "  (on error: continue)";
}

std::string ShortPlace(const Program& program, uint32_t index) {
  std::vector<uint32_t> places;
  for (uint32_t i = index; i != UINT32_MAX; i = program.all()[i].parent)
    places.push_back(program.all()[i].place);
  std::reverse(places.begin(), places.end());
  return fmt::format("{}", fmt::join(places, "."));
}

/// Returns an instruction as text, and moves the cursors as it does.
std::string InstructionText(const Program& program, const Instruction& instruction,
                            const Descriptors& descriptors, Cursors& cursors) {
  switch (instruction.op) {
    case OpCode::kNone:
      return "(no instruction)";
    case OpCode::kSelect:
      return fmt::format(
          "select {}{}{}", CursorText(instruction.cursor),
          PathText(program.PathOf(instruction), descriptors,
                   instruction.cursor == protovm::kCursorSrc ? cursors.src : cursors.dst),
          instruction.create ? " create" : "");
    case OpCode::kRegLoad:
      return fmt::format("reg_load r{} = {}", instruction.reg, CursorText(instruction.cursor));
    case OpCode::kDel:
      return "del";
    case OpCode::kMerge:
      return fmt::format("merge{}{}", instruction.skip_submessages ? " skip_submessages" : "",
                         instruction.del_if_src_empty ? " del_if_src_empty" : "");
    case OpCode::kSet:
      return "set";
  }
  return "";
}

}  // namespace

std::string ProgramText(const Program& program, const Descriptors& descriptors,
                        const std::string& message) {
  // Depth first, without recursion: a program may be as deep as it is large.
  struct Open {
    uint32_t index;
    size_t indent;
    Cursors cursors;
  };
  struct Line {
    std::string place, text;
  };
  std::vector<Line> lines;
  std::vector<Open> open;
  const auto push = [&](uint32_t begin, size_t count, size_t indent, const Cursors& cursors) {
    for (size_t i = count; i-- > 0;)
      open.push_back({begin + static_cast<uint32_t>(i), indent, cursors});
  };
  push(0, program.top().size(), 0, {message, message});
  size_t width = 0;
  while (!open.empty()) {
    Open next = std::move(open.back());
    open.pop_back();
    const Instruction& instruction = program.all()[next.index];
    const std::string text = InstructionText(program, instruction, descriptors, next.cursors) +
                             LevelText(instruction.abort_level);
    const bool is_deep = next.indent > kMaxIndent;
    lines.push_back({is_deep ? "..." : ShortPlace(program, next.index),
                     std::string(std::min(next.indent, kMaxIndent), ' ') + text});
    width = std::max(width, lines.back().place.size());
    push(instruction.nested, instruction.nested_size, next.indent + 2, next.cursors);
  }
  std::string text;
  for (const Line& line : lines)
    text += fmt::format("  {:<{}}  {}\n", line.place, width, line.text);
  return text;
}

}  // namespace ringscope
