#ifndef RINGSCOPE_CORE_PROTOVM_PROTO_VM_H_
#define RINGSCOPE_CORE_PROTOVM_PROTO_VM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/protovm/protovm_rules.h"
#include "core/protovm/state_tree.h"
#include "core/protovm/vm_program.h"

namespace ringscope::protovm {

/// How a run ended. `reason` and `instruction`: what failed first, where the result is not ok.
struct RunOutcome {
  RunResult result = RunResult::kOk;
  Reason reason = Reason::kNone;
  uint32_t instruction = UINT32_MAX;  // index in the program

  friend bool operator==(const RunOutcome&, const RunOutcome&) = default;
};

/// Folds packets into a state by a program, as the service does with packets that a buffer
/// overwrites. Any program and any packet is safe: there is no recursion, a run takes at most
/// kMaxSteps steps, and what would crash the released service is reported (RunResult::kCrash).
class ProtoVm {
 public:
  /// Steps of one run: instructions, path components, fields of the packet that are passed over,
  /// and 64 bytes copied.
  static constexpr uint64_t kMaxSteps = uint64_t{1} << 22;
  static constexpr uint32_t kRegisters = 32;

  /// @param limit in bytes, for what the state is counted with
  /// @param initial_state a message, taken as it is; beyond the limit: the state is empty
  ProtoVm(const ProtoVmRules& rules, Bytes program, uint64_t limit, Bytes initial_state = {});

  RunOutcome Run(Bytes packet);
  std::string SerializeState() const { return state_.Serialize(); }
  const Program& program() const { return program_; }
  const StateTree& state() const { return state_; }
  /// Elements that merges left out because of the memory limit, which is no error.
  uint64_t dropped_elements() const { return dropped_elements_; }
  /// Instructions that the last run took, see kMaxSteps.
  uint64_t steps() const { return steps_; }
  /// Why the VM does not run any more (result kCrash or kTooLong); result kOk as long as it does.
  const RunOutcome& stopped() const { return stopped_; }

 private:
  struct Destination {
    Node* node = nullptr;       // nullptr if it was deleted
    Node* container = nullptr;  // nullptr if it is the root, or an element of a loop
    uint64_t key = 0;           // in the container
  };
  enum class FrameKind : uint8_t { kList, kSelect, kLoop };
  struct Frame {
    FrameKind kind = FrameKind::kList;
    bool in_source = false;     // loop
    uint32_t at = 0;            // list: the instruction under way; else the select
    uint32_t end = 0;           // list
    uint32_t part = 0;          // loop: the part of the path that follows
    uint32_t number = 0;        // loop in the source: field number
    uint32_t select = 0;        // select: index of the enclosing select's frame
    bool done = false;          // loop in the destination: the last key was passed
    uint64_t next_key = 0;      // loop in the destination
    Node* container = nullptr;  // the same
    VmFields rest{Bytes{}};     // loop in the source
    VmField source{};           // select: to be restored
    Destination destination{};  // likewise
  };
  /// Immediate outcome of an instruction or path: a result, or frames to continue.
  enum class Step : uint8_t { kOk, kError, kAbort, kStop, kPushed };

  Step Continue();
  Step Deliver(Step result);
  Step Begin(uint32_t index);
  Step BeginNested(const Instruction& instruction);
  Step Walk(uint32_t index, uint32_t part);
  Step BeginLoop(uint32_t index, const PathPart& part, uint32_t next);
  Step NextElement();
  Step EnterSource(std::span<const PathPart> path, uint32_t& part);
  Step EnterMessage();
  Step EnterDestination(const Instruction& select, std::span<const PathPart> path, uint32_t& part);
  Node* AddEmpty(Node& container, uint64_t key);
  Step RegLoad(const Instruction& instruction);
  Step Merge(const Instruction& instruction);
  Reason MergeField(const Instruction& instruction, Node& target, const VmField& field);
  Step Set();
  Step Delete();

  Step Check(Reason reason) { return reason == Reason::kNone ? Step::kOk : Abort(reason); }
  Step Error(Reason reason) { return reason_ = reason, Step::kError; }
  Step Abort(Reason reason) { return reason_ = reason, Step::kAbort; }
  Step Stop(Reason reason) { return reason_ = reason, Step::kStop; }
  /// The destination is used after its deletion.
  Step Deleted() {
    return rules_.checks_deleted_cursors ? Abort(Reason::kCursorDeleted)
                                         : Stop(Reason::kCursorDeleted);
  }
  bool Spend(uint64_t steps) {
    steps_ += steps;
    return steps_ <= kMaxSteps;
  }

  ProtoVmRules rules_;
  Program program_;
  StateTree state_;
  uint64_t registers_[kRegisters] = {};
  uint32_t loaded_ = 0;  // a bit for each register
  uint64_t merges_ = 0;  // number of the last one
  uint64_t dropped_elements_ = 0;
  RunOutcome stopped_;
  // The run under way.
  std::vector<Frame> frames_;
  VmField source_;  // its type is kBytes for the packet itself
  Destination destination_;
  uint32_t select_ = UINT32_MAX;  // the frame of the innermost select
  uint32_t failed_ = 0;           // the instruction that reason_ is about
  Reason reason_ = Reason::kNone;
  uint64_t steps_ = 0;
};

}  // namespace ringscope::protovm

#endif  // RINGSCOPE_CORE_PROTOVM_PROTO_VM_H_
