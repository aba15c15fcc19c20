#include "core/protovm/proto_vm.h"

namespace ringscope::protovm {
namespace {

/// Steps that a copy of so many bytes counts as.
uint64_t StepsOf(size_t bytes) { return 1 + bytes / 64; }

bool IsMarked(const Node& message, const Node& field) { return field.mark == message.open_merge; }

}  // namespace

ProtoVm::ProtoVm(const ProtoVmRules& rules, Bytes program, uint64_t limit, Bytes initial_state)
    : rules_(rules), program_(program), state_(rules, limit) {
  if (!initial_state.empty()) static_cast<void>(state_.SetBytes(state_.root(), initial_state));
}

RunOutcome ProtoVm::Run(Bytes packet) {
  if (stopped_.result != RunResult::kOk) return stopped_;
  source_ = {{.number = 0, .type = wire::Type::kBytes, .value = 0, .bytes = packet}};
  destination_ = {&state_.root(), nullptr};
  select_ = UINT32_MAX;
  reason_ = Reason::kNone;
  steps_ = 0;
  frames_.clear();
  frames_.push_back({.end = static_cast<uint32_t>(program_.top().size())});
  // kPushed: the last frame continues. Else: the result for the last frame.
  Step step = Step::kPushed;
  while (step != Step::kStop && !frames_.empty())
    step = step == Step::kPushed ? Continue() : Deliver(step);
  RunOutcome outcome;
  if (step == Step::kOk) return outcome;
  outcome.reason = reason_;
  outcome.instruction = failed_;
  if (step == Step::kStop) {
    outcome.result = reason_ == Reason::kTooManySteps ? RunResult::kTooLong : RunResult::kCrash;
    stopped_ = outcome;
  } else {
    outcome.result = step == Step::kError ? RunResult::kError : RunResult::kAbort;
  }
  return outcome;
}

/// Starts what the last frame has to do next.
ProtoVm::Step ProtoVm::Continue() {
  const Frame& frame = frames_.back();
  if (!Spend(1)) {
    failed_ = frame.kind == FrameKind::kList && frame.at == frame.end ? failed_ : frame.at;
    return Stop(Reason::kTooManySteps);
  }
  if (frame.kind == FrameKind::kList && frame.at == frame.end) {
    frames_.pop_back();
    return Step::kOk;
  }
  const uint32_t index = frame.at;
  const Step step = frame.kind == FrameKind::kList ? Begin(index) : NextElement();
  if (step != Step::kPushed && step != Step::kOk) failed_ = index;
  return step;
}

/// The last frame receives the result of what it started.
ProtoVm::Step ProtoVm::Deliver(Step result) {
  Frame& frame = frames_.back();
  switch (frame.kind) {
    case FrameKind::kSelect:
      source_ = frame.source;
      destination_ = frame.destination;
      select_ = frame.select;
      break;
    case FrameKind::kLoop:
      if (result == Step::kOk) return Step::kPushed;
      break;
    case FrameKind::kList: {
      const Instruction& instruction = program_.all()[frame.at];
      if (result == Step::kOk ||
          (result == Step::kError && instruction.abort_level != kBreakOuter &&
           instruction.abort_level != kAbortRun)) {
        ++frame.at;
        return Step::kPushed;
      }
      if (instruction.abort_level == kAbortRun) result = Step::kAbort;
      break;
    }
  }
  frames_.pop_back();
  return result;
}

ProtoVm::Step ProtoVm::Begin(uint32_t index) {
  const Instruction& instruction = program_.all()[index];
  if (instruction.op == OpCode::kNone) return Abort(Reason::kNoInstruction);
  if (instruction.op == OpCode::kSelect) {
    if (instruction.create && instruction.cursor == kCursorSrc)
      return Abort(Reason::kCreateInSource);
    frames_.push_back({.kind = FrameKind::kSelect,
                       .at = index,
                       .select = select_,
                       .source = source_,
                       .destination = destination_});
    select_ = static_cast<uint32_t>(frames_.size() - 1);
    return Walk(index, 0);
  }
  const Step step = instruction.op == OpCode::kRegLoad ? RegLoad(instruction)
                    : instruction.op == OpCode::kMerge ? Merge(instruction)
                    : instruction.op == OpCode::kSet   ? Set()
                                                       : Delete();
  return step == Step::kOk ? BeginNested(instruction) : step;
}

ProtoVm::Step ProtoVm::BeginNested(const Instruction& instruction) {
  if (instruction.nested_size == 0) return Step::kOk;
  frames_.push_back(
      {.at = instruction.nested, .end = instruction.nested + instruction.nested_size});
  return Step::kPushed;
}

/// Continues a select's path, at this part of it.
ProtoVm::Step ProtoVm::Walk(uint32_t index, uint32_t part) {
  const Instruction& select = program_.all()[index];
  const std::span<const PathPart> path = program_.PathOf(select);
  while (part < path.size()) {
    if (!Spend(1)) return Stop(Reason::kTooManySteps);
    if (!path[part].field_id) return Abort(Reason::kNoFieldId);
    if (path[part].is_repeated) return BeginLoop(index, path[part], part + 1);
    const Step step = select.cursor == kCursorSrc ? EnterSource(path, part)
                                                  : EnterDestination(select, path, part);
    if (step != Step::kOk) return step;
  }
  return BeginNested(select);
}

ProtoVm::Step ProtoVm::BeginLoop(uint32_t index, const PathPart& part, uint32_t next) {
  const uint32_t cursor = program_.all()[index].cursor;
  Node* repeated = nullptr;
  if (cursor == kCursorSrc) {
    if (source_.is_scalar()) return Abort(Reason::kSourceNotMessage);
  } else if (cursor == kCursorDst) {
    const Step step = EnterMessage();
    if (step != Step::kOk) return step;
    repeated = StateTree::Find(*destination_.node, *part.field_id);
    if (repeated == nullptr) return Step::kOk;
    const Reason reason = state_.IntoIndexed(*repeated);
    if (reason != Reason::kNone) return Abort(reason);
  } else {
    return Abort(Reason::kLoopCursor);
  }
  frames_.push_back({.kind = FrameKind::kLoop,
                     .in_source = repeated == nullptr,
                     .at = index,
                     .part = next,
                     .number = *part.field_id,
                     .container = repeated,
                     .rest = VmFields(repeated == nullptr ? source_.bytes : Bytes())});
  return Step::kPushed;
}

/// The last frame's loop goes to its next element, or ends.
ProtoVm::Step ProtoVm::NextElement() {
  Frame& loop = frames_.back();
  const uint32_t index = loop.at;
  const uint32_t part = loop.part;
  if (loop.in_source) {
    for (VmField field; loop.rest.Next(field);) {
      if (!Spend(1)) return Stop(Reason::kTooManySteps);
      if (field.number != loop.number) continue;
      source_ = field;
      return Walk(index, part);
    }
  } else if (!loop.done) {
    if (auto* const element = StateTree::FindFrom(*loop.container, loop.next_key)) {
      loop.done = element->first == UINT64_MAX;
      loop.next_key = element->first + 1;
      destination_ = {&element->second, nullptr};
      return Walk(index, part);
    }
  }
  frames_.pop_back();
  return Step::kOk;
}

ProtoVm::Step ProtoVm::EnterSource(std::span<const PathPart> path, uint32_t& part) {
  if (source_.is_scalar()) return Abort(Reason::kSourceNotMessage);
  const PathPart* const next = part + 1 < path.size() ? &path[part + 1] : nullptr;
  const bool is_indexed = next != nullptr && next->array_index;
  if (!is_indexed && next != nullptr && next->map_key_field_id) return Abort(Reason::kKeyInSource);
  uint64_t before = is_indexed ? *next->array_index : 0;
  VmFields fields(source_.bytes);
  for (VmField field; fields.Next(field);) {
    if (!Spend(1)) return Stop(Reason::kTooManySteps);
    if (field.number != *path[part].field_id || before-- > 0) continue;
    if (is_indexed && field.is_scalar()) {
      field.type = wire::Type::kBytes;
      field.bytes = {};
    }
    source_ = field;
    part += is_indexed ? 2 : 1;
    return Step::kOk;
  }
  return Error(is_indexed ? Reason::kNoSourceElement : Reason::kNoSourceField);
}

/// Makes what is under the destination cursor a message.
ProtoVm::Step ProtoVm::EnterMessage() {
  Node* const node = destination_.node;
  if (node == nullptr) return Deleted();
  if (node->kind == NodeKind::kMessage) return Step::kOk;
  // Fields have 2 bytes or more each.
  if (node->kind == NodeKind::kBytes && !Spend(node->size / 2)) return Stop(Reason::kTooManySteps);
  return Check(state_.IntoMessage(*node));
}

ProtoVm::Step ProtoVm::EnterDestination(const Instruction& select, std::span<const PathPart> path,
                                        uint32_t& part) {
  const uint32_t field_id = *path[part].field_id;
  const PathPart* const next = part + 1 < path.size() ? &path[part + 1] : nullptr;
  const bool is_indexed = next != nullptr && next->array_index;
  const bool is_mapped = !is_indexed && next != nullptr && next->map_key_field_id;
  uint64_t key = 0;
  if (is_indexed) key = *next->array_index;
  if (is_mapped) {
    if (!next->register_to_match) return Abort(Reason::kNoRegisterToMatch);
    const auto reg = static_cast<uint8_t>(*next->register_to_match);
    if (reg >= kRegisters) return Abort(Reason::kNoSuchRegister);
    if ((loaded_ >> reg & 1) == 0) return Abort(Reason::kRegisterNotLoaded);
    key = static_cast<uint32_t>(registers_[reg]);
  }
  const Step step = EnterMessage();
  if (step != Step::kOk) return step;
  Node* const message = destination_.node;
  Node* field = StateTree::Find(*message, field_id);
  if (field == nullptr) {
    if (!select.create && !is_indexed) return Error(Reason::kNoField);
    field = AddEmpty(*message, field_id);
    if (field == nullptr) return Abort(Reason::kMemoryLimit);
  } else if (!is_indexed && !is_mapped &&
             (field->kind == NodeKind::kIndexed || field->kind == NodeKind::kMapped)) {
    return Abort(Reason::kFieldIsRepeated);
  }
  if (!is_indexed && !is_mapped) {
    destination_ = {field, message, field_id};
    part += 1;
    return Step::kOk;
  }
  const Reason reason =
      is_indexed ? state_.IntoIndexed(*field) : state_.IntoMapped(*field, *next->map_key_field_id);
  if (reason != Reason::kNone) return Abort(reason);
  Node* element = StateTree::Find(*field, key);
  if (element == nullptr) {
    if (is_indexed && key > field->count()) return Abort(Reason::kIndexBeyondEnd);
    element = AddEmpty(*field, key);
    if (element == nullptr) return Abort(Reason::kMemoryLimit);
  }
  destination_ = {element, field, key};
  part += 2;
  return Step::kOk;
}

Node* ProtoVm::AddEmpty(Node& container, uint64_t key) {
  const std::optional<Node> node = state_.NewEmptyNode();
  return node ? state_.Insert(container, key, *node) : nullptr;
}

ProtoVm::Step ProtoVm::RegLoad(const Instruction& instruction) {
  uint64_t value = 0;
  if (instruction.cursor == kCursorSrc) {
    if (!source_.is_scalar()) return Abort(Reason::kSourceNotScalar);
    value = source_.value;
  } else {
    if (destination_.node == nullptr) return Deleted();
    if (destination_.node->kind != NodeKind::kScalar) return Abort(Reason::kNotScalar);
    value = destination_.node->scalar;
  }
  if (instruction.reg >= kRegisters) return Abort(Reason::kNoSuchRegister);
  registers_[instruction.reg] = value;
  loaded_ |= uint32_t{1} << instruction.reg;
  return Step::kOk;
}

ProtoVm::Step ProtoVm::Merge(const Instruction& instruction) {
  if (source_.is_scalar()) return Abort(Reason::kSourceNotMessage);
  if (destination_.node == nullptr) return Deleted();
  Node& target = *destination_.node;
  if (target.kind != NodeKind::kEmpty && target.kind != NodeKind::kBytes &&
      target.kind != NodeKind::kMessage)
    return Abort(Reason::kNotMessage);
  if (source_.bytes.empty()) return Step::kOk;
  const Step entered = EnterMessage();
  if (entered != Step::kOk) return entered;
  // Marks that an aborted merge left behind stay valid until a merge ends well.
  if (target.open_merge == 0) target.open_merge = ++merges_;
  VmFields fields(source_.bytes);
  for (VmField field; fields.Next(field);) {
    if (!Spend(StepsOf(field.bytes.size()))) return Stop(Reason::kTooManySteps);
    const Reason reason = MergeField(instruction, target, field);
    if (reason != Reason::kNone) return Abort(reason);
  }
  target.open_merge = 0;
  return Step::kOk;
}

Reason ProtoVm::MergeField(const Instruction& instruction, Node& target, const VmField& field) {
  Node* const old = StateTree::Find(target, field.number);
  const auto new_node = [&] { return state_.NewNode(field); };
  std::optional<Node> node;
  if (old != nullptr) {
    const bool skips = rules_.knows_skip_submessages && instruction.skip_submessages &&
                       old->kind == NodeKind::kMessage;
    const bool deletes = rules_.knows_del_if_src_empty && instruction.del_if_src_empty &&
                         !field.is_scalar() && field.bytes.empty();
    if (skips && rules_.charges_before_skipping) {
      if (!(node = new_node())) return Reason::kMemoryLimit;
      state_.Free(*node);
    }
    if (deletes && (!skips || rules_.deletes_before_skipping)) {
      state_.Erase(target, field.number);
      return Reason::kNone;
    }
    if (skips) return Reason::kNone;
  }
  if (!(node = new_node())) return Reason::kMemoryLimit;
  if (rules_.joins_occurrences) node->mark = target.open_merge;
  if (old == nullptr)
    return state_.Insert(target, field.number, *node) == nullptr ? Reason::kMemoryLimit
                                                                 : Reason::kNone;
  Reason reason = old->kind == NodeKind::kMapped ? Reason::kFieldIsMapped : Reason::kNone;
  if (reason == Reason::kNone && rules_.joins_occurrences && IsMarked(target, *old))
    reason = state_.IntoIndexed(*old);
  if (reason != Reason::kNone) {
    state_.EmptyButCount(*node);
    return reason;
  }
  if (old->kind != NodeKind::kIndexed) {
    state_.Free(*old);
    *old = *node;
    return Reason::kNone;
  }
  if (!IsMarked(target, *old)) {
    state_.Clear(*old);
    old->mark = target.open_merge;
  }
  node->mark = 0;
  // Where it cannot be appended, it is dropped silently.
  if (StateTree::Find(*old, old->count()) != nullptr)
    state_.Free(*node);
  else if (state_.Insert(*old, old->count(), *node) == nullptr)
    ++dropped_elements_;
  return Reason::kNone;
}

ProtoVm::Step ProtoVm::Set() {
  if (destination_.node == nullptr) return Deleted();
  Node& target = *destination_.node;
  const VmField& source = source_;
  if (!source.is_scalar()) {
    if (!Spend(StepsOf(source.bytes.size()))) return Stop(Reason::kTooManySteps);
    return Check(state_.SetBytes(target, source.bytes));
  }
  if (&target == &state_.root() && target.kind == NodeKind::kEmpty)
    return Stop(Reason::kScalarAtRoot);
  return Check(StateTree::SetScalar(target, source.type, source.value));
}

ProtoVm::Step ProtoVm::Delete() {
  Node* const node = destination_.node;
  if (node == nullptr) return Deleted();
  if (destination_.container == nullptr) {
    state_.EmptyButCount(*node);
    return Step::kOk;
  }
  if (rules_.checks_deleted_cursors) {
    if (select_ != UINT32_MAX && frames_[select_].destination.node == node)
      return Abort(Reason::kWouldDangle);
  } else {
    for (Frame& frame : frames_) {
      if (frame.kind == FrameKind::kSelect && frame.destination.node == node)
        frame.destination = {};
    }
  }
  state_.Erase(*destination_.container, destination_.key);
  destination_ = {};
  return Step::kOk;
}

}  // namespace ringscope::protovm
