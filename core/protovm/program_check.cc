#include "core/protovm/program_check.h"

#include <algorithm>

#include "core/protovm/proto_vm.h"

namespace ringscope::protovm {
namespace {

/// What is known where a list of instructions begins.
struct Place {
  bool at_root = true;    // the destination is the state itself
  bool is_loose = true;   // it has no parent: the state itself, or an element of a loop
  bool has_moved = true;  // the innermost select moved it there
  bool is_deleted = false;
  bool is_reached = true;
  bool is_noted = false;  // a finding stands for all that is not reached
  uint64_t created = 0;   // nodes that are there at least
};

class Checker {
 public:
  Checker(const Program& program, std::optional<uint64_t> limit)
      : program_(program), limit_(limit), places_(program.all().size()) {
    for (const Instruction& instruction : program.all())
      if (instruction.op == OpCode::kRegLoad && instruction.reg < ProtoVm::kRegisters)
        loaded_ |= uint32_t{1} << instruction.reg;
  }

  std::vector<ProgramFinding> Check() {
    CheckList(0, static_cast<uint32_t>(program_.top().size()), Place());
    // Lists follow those that they are nested in.
    for (uint32_t i = 0; i < program_.all().size(); ++i) {
      const Instruction& instruction = program_.all()[i];
      CheckList(instruction.nested, instruction.nested_size, places_[i]);
    }
    std::stable_sort(found_.begin(), found_.end(),
                     [](const auto& a, const auto& b) { return a.instruction < b.instruction; });
    return std::move(found_);
  }

 private:
  /// Checks a list, and notes what is known where each one's nested list begins.
  void CheckList(uint32_t begin, uint32_t size, Place place) {
    for (uint32_t i = begin; i < begin + size; ++i) {
      if (!place.is_reached) {
        // The first stands for those after it and those nested in them.
        if (!place.is_noted) Note({.instruction = i, .finding = Flaw::kNeverReached});
        place.is_noted = true;
        places_[i] = place;
        continue;
      }
      places_[i] = Enter(i, place);
      const Instruction& instruction = program_.all()[i];
      place.is_reached = places_[i].is_reached;
      // What is not a select leaves the cursor as it is for those after it.
      if (instruction.op != OpCode::kSelect) place.is_deleted |= places_[i].is_deleted;
    }
  }

  /// What is known behind an instruction, for those nested in it.
  Place Enter(uint32_t i, Place place) {
    const Instruction& instruction = program_.all()[i];
    switch (instruction.op) {
      case OpCode::kNone:
        return Aborts(i, Reason::kNoInstruction, place);
      case OpCode::kSelect:
        return EnterPath(i, instruction, place);
      case OpCode::kRegLoad:
        if (instruction.reg >= ProtoVm::kRegisters)
          return Aborts(i, Reason::kNoSuchRegister, place);
        if (instruction.cursor != kCursorSrc) return Use(i, place);
        return place;
      case OpCode::kDel:
        place = Use(i, place);
        if (!place.is_reached || place.is_loose) return place;
        if (!place.has_moved) return Dangles(i, Reason::kWouldDangle, place);
        place.is_deleted = true;
        return place;
      case OpCode::kMerge:
        if (instruction.skip_submessages)
          Note({i, Flaw::kIgnoredFlag, Reason::kNone, "skip_submessages", 55});
        if (instruction.del_if_src_empty)
          Note({i, Flaw::kIgnoredFlag, Reason::kNone, "del_if_src_empty", 56});
        if (instruction.skip_submessages && instruction.del_if_src_empty)
          Note({i, Flaw::kOtherOrder, Reason::kNone, nullptr, 57});
        return Use(i, place);
      case OpCode::kSet:
        if (place.at_root) Note({i, Flaw::kMayCrash, Reason::kScalarAtRoot});
        return Use(i, place);
    }
    return place;
  }

  Place EnterPath(uint32_t i, const Instruction& select, Place place) {
    const bool is_source = select.cursor == kCursorSrc;
    if (select.create && is_source) return Aborts(i, Reason::kCreateInSource, place);
    const std::span<const PathPart> path = program_.PathOf(select);
    place.has_moved = false;
    for (size_t part = 0; part < path.size();) {
      if (!path[part].has_field_id) return Aborts(i, Reason::kNoFieldId, place);
      if (!is_source) {
        place = Use(i, place);
        if (!place.is_reached) return place;
        place.has_moved = true;
        place.at_root = false;
        place.is_loose = path[part].is_repeated;
      }
      if (path[part].is_repeated) {
        if (!is_source && select.cursor != kCursorDst) return Aborts(i, Reason::kLoopCursor, place);
        ++part;
        continue;
      }
      const PathPart* const next = part + 1 < path.size() ? &path[part + 1] : nullptr;
      const bool is_indexed = next != nullptr && next->has_array_index;
      const bool is_mapped = !is_indexed && next != nullptr && next->has_map_key;
      if (is_mapped) {
        const auto reg = static_cast<uint8_t>(next->register_to_match);
        if (is_source) return Aborts(i, Reason::kKeyInSource, place);
        if (!next->has_register) return Aborts(i, Reason::kNoRegisterToMatch, place);
        if (reg >= ProtoVm::kRegisters) return Aborts(i, Reason::kNoSuchRegister, place);
        if ((loaded_ >> reg & 1) == 0) return Aborts(i, Reason::kRegisterNotLoaded, place);
      }
      if (!is_source) place.created += is_indexed || is_mapped ? 2 : 1;
      part += is_indexed || is_mapped ? 2 : 1;
    }
    const uint64_t bytes = place.created * (kProtoVm57.node_bytes() + kProtoVm57.entry_bytes());
    if (!is_source && limit_ && bytes > *limit_) {
      Note({i, Flaw::kOverLimit, Reason::kMemoryLimit});
      place.is_reached = false;
    }
    return place;
  }

  /// The destination is used.
  Place Use(uint32_t i, Place place) {
    return place.is_deleted ? Dangles(i, Reason::kCursorDeleted, place) : place;
  }
  Place Aborts(uint32_t i, Reason reason, Place place) {
    Note({i, Flaw::kAborts, reason});
    place.is_reached = false;
    return place;
  }
  Place Dangles(uint32_t i, Reason reason, Place place) {
    Note({i, Flaw::kAbortsOrCrashes, reason});
    place.is_reached = false;
    return place;
  }
  void Note(const ProgramFinding& finding) { found_.push_back(finding); }

  const Program& program_;
  const std::optional<uint64_t> limit_;
  std::vector<Place> places_;
  std::vector<ProgramFinding> found_;
  uint32_t loaded_ = 0;  // a bit for each register that an instruction loads
};

}  // namespace

std::vector<ProgramFinding> CheckProgram(const Program& program, std::optional<uint64_t> limit) {
  return Checker(program, limit).Check();
}

}  // namespace ringscope::protovm
