#ifndef RINGSCOPE_CORE_PROTOVM_VM_PROGRAM_H_
#define RINGSCOPE_CORE_PROTOVM_VM_PROGRAM_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/wire.h"

namespace ringscope::protovm {

/// A field as ProtoVM sees it.
struct VmField : wire::VisitedField {
  bool is_scalar() const { return type != wire::Type::kBytes; }
};

/// Pulls the fields of a message by the rules of the service's parser: the first malformed field
/// and all that follow it are dropped silently; fields with numbers above 2^24 - 1 and fields of
/// 256 MiB and more are left out.
class VmFields {
 public:
  explicit VmFields(Bytes message) : at_(message.data()), end_(at_ + message.size()) {}

  /// @return false at the end
  bool Next(VmField& field) {
    constexpr uint32_t kMaxNumber = (uint32_t{1} << 24) - 1;
    constexpr size_t kMaxBytes = size_t{256} << 20;
    while (at_ != end_) {
      at_ = wire::TakeField<UINT64_MAX>(at_, end_, field);
      if (at_ == nullptr || field.number == 0) break;
      const bool is_too_long = !field.is_scalar() && field.bytes.size() >= kMaxBytes;
      if (field.number <= kMaxNumber && !is_too_long) return true;
    }
    at_ = end_;
    return false;
  }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
};

enum class OpCode : uint8_t { kNone, kSelect, kRegLoad, kDel, kMerge, kSet };

/// Values of VmCursorEnum that mean something of their own.
inline constexpr uint32_t kCursorSrc = 1;
inline constexpr uint32_t kCursorDst = 2;

/// Values of VmInstruction.abort_level that mean something of their own; all others: continue with
/// the next instruction.
inline constexpr uint32_t kBreakOuter = 2;
inline constexpr uint32_t kAbortRun = 3;

/// One component of a path, as it is in the program.
struct PathPart {
  std::optional<uint32_t> field_id, array_index, map_key_field_id, register_to_match;
  bool is_repeated = false;
};

struct Instruction {
  OpCode op = OpCode::kNone;
  bool create = false;            // select.create_if_not_exist
  bool skip_submessages = false;  // merge
  bool del_if_src_empty = false;  // merge
  uint8_t reg = 0;                // reg_load.dst_register, cut to 8 bits
  uint32_t cursor = kCursorSrc;   // select, reg_load
  uint32_t abort_level = kBreakOuter;
  uint32_t path = 0;  // select: index of its first part, and their number
  uint32_t path_size = 0;
  uint32_t nested = 0;  // index of the first nested instruction, and their number
  uint32_t nested_size = 0;
  uint32_t parent = UINT32_MAX;  // index of the instruction that this one is nested in
  uint32_t place = 0;            // in the list that it is in
};

/// A VmProgram, decoded. The instructions of a list follow one another.
class Program {
 public:
  Program() = default;
  /// Never fails: what is malformed is left out, as the service does.
  explicit Program(Bytes encoded);

  uint32_t version() const { return version_; }
  std::span<const Instruction> all() const { return instructions_; }
  /// The instructions at the top.
  std::span<const Instruction> top() const { return all().first(top_size_); }
  std::span<const PathPart> PathOf(const Instruction& instruction) const {
    return std::span(parts_).subspan(instruction.path, instruction.path_size);
  }
  /// An instruction's place in its list, after those of the instructions that it is nested in.
  std::vector<uint32_t> PlacesOf(uint32_t index) const;
  /// Where an instruction is: `instructions[2].nested_instructions[0]`.
  std::string PlaceOf(uint32_t index) const;

 private:
  std::vector<Instruction> instructions_;
  std::vector<PathPart> parts_;
  uint32_t top_size_ = 0;
  uint32_t version_ = 0;
};

}  // namespace ringscope::protovm

#endif  // RINGSCOPE_CORE_PROTOVM_VM_PROGRAM_H_
