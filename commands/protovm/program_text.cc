#include "commands/protovm/program_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace ringscope {
namespace {

using protovm::Instruction;
using protovm::OpCode;
using protovm::PathPart;
using protovm::Program;

/// Deeper instructions are not indented any further.
constexpr size_t kMaxIndent = 24;

std::string CursorText(uint32_t cursor) {
  if (cursor == protovm::kCursorSrc) return "SRC";
  if (cursor == protovm::kCursorDst) return "DST";
  return cursor == 3 ? "BOTH" : fmt::format("cursor {}", cursor);
}

std::string PathText(std::span<const PathPart> path) {
  std::string text;
  for (const PathPart& part : path) {
    if (part.has_field_id) {
      text += fmt::format("{}{}{}", text.empty() ? " " : ".", part.field_id,
                          part.is_repeated ? "[*]" : "");
    } else if (part.has_array_index) {
      text += fmt::format("[{}]", part.array_index);
    } else if (part.has_map_key) {
      text += part.has_register
                  ? fmt::format("[{}=r{}]", part.map_key_field_id, part.register_to_match)
                  : fmt::format("[{}=?]", part.map_key_field_id);
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

}  // namespace

std::string InstructionText(const Program& program, uint32_t index, const ProgramNames* names) {
  const Instruction& instruction = program.all()[index];
  std::string text;
  switch (instruction.op) {
    case OpCode::kNone:
      text = "(no instruction)";
      break;
    case OpCode::kSelect:
      text = fmt::format(
          "select {}{}{}", CursorText(instruction.cursor),
          names == nullptr ? PathText(program.PathOf(instruction)) : names->PathOf(index),
          instruction.create ? " create" : "");
      break;
    case OpCode::kRegLoad:
      text = fmt::format("reg_load r{} = {}", instruction.reg, CursorText(instruction.cursor));
      break;
    case OpCode::kDel:
      text = "del";
      break;
    case OpCode::kMerge:
      text = fmt::format("merge{}{}", instruction.skip_submessages ? " skip_submessages" : "",
                         instruction.del_if_src_empty ? " del_if_src_empty" : "");
      break;
    case OpCode::kSet:
      text = "set";
      break;
  }
  return text + LevelText(instruction.abort_level);
}

std::string ProgramText(const Program& program, const ProgramNames* names) {
  // Depth first, without recursion: a program may be as deep as it is large.
  struct Line {
    std::string place;
    size_t indent;
    uint32_t index;
  };
  std::vector<Line> lines;
  std::vector<std::pair<uint32_t, size_t>> open;
  const auto push = [&](uint32_t begin, size_t count, size_t indent) {
    for (size_t i = count; i-- > 0;) open.emplace_back(begin + static_cast<uint32_t>(i), indent);
  };
  push(0, program.top().size(), 0);
  size_t width = 0;
  while (!open.empty()) {
    const auto [index, indent] = open.back();
    open.pop_back();
    const bool is_deep = indent > kMaxIndent;
    lines.push_back(
        {is_deep ? "..." : ShortPlace(program, index), std::min(indent, kMaxIndent), index});
    width = std::max(width, lines.back().place.size());
    const Instruction& instruction = program.all()[index];
    push(instruction.nested, instruction.nested_size, indent + 2);
  }
  std::string text;
  for (const Line& line : lines) {
    text += fmt::format("  {:<{}}  {:{}}{}\n", line.place, width, "", line.indent,
                        InstructionText(program, line.index, names));
  }
  return text;
}

}  // namespace ringscope
