#ifndef RINGSCOPE_CORE_PROTOVM_STATE_TREE_H_
#define RINGSCOPE_CORE_PROTOVM_STATE_TREE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/base/enum_names.h"
#include "core/protovm/protovm_rules.h"
#include "core/protovm/vm_program.h"

namespace ringscope {
namespace protovm {

/// How a run on a packet ended.
enum class RunResult : uint8_t {
  kOk,
  kError,
  kAbort,
  kCrash,    // the released service would crash here; the VM does not run any more
  kTooLong,  // the run needs more steps than are allowed; the VM does not run any more
};

/// Why an instruction did not end as ok.
enum class Reason : uint8_t {
  kNone,
  // Errors: not there.
  kNoSourceField,
  kNoSourceElement,
  kNoField,
  // Aborts: the program or the data is not what the other expects.
  kNoInstruction,
  kCreateInSource,
  kNoFieldId,
  kLoopCursor,
  kKeyInSource,
  kNoRegisterToMatch,
  kNoSuchRegister,
  kRegisterNotLoaded,
  kSourceNotMessage,
  kSourceNotScalar,
  kNotMessage,
  kNotIndexed,
  kNotMapped,
  kNoKey,
  kNotScalar,
  kFieldIsRepeated,
  kIndexBeyondEnd,
  kOtherType,
  kFieldIsMapped,
  kMemoryLimit,
  kCursorDeleted,
  kWouldDangle,
  // Ends of the VM.
  kScalarAtRoot,
  kTooManySteps,
};

}  // namespace protovm

template <>
inline constexpr std::array kEnumNames<protovm::RunResult> = {"ok", "error", "abort", "crash",
                                                              "too_long"};
template <>
inline constexpr auto kEnumRows<protovm::Reason> = [] {
  using enum protovm::Reason;
  return EnumTable<EnumRow<protovm::Reason>>({
      {kNone, "none", "nothing is wrong"},
      {kNoSourceField, "no_source_field", "the packet has no such field"},
      {kNoSourceElement, "no_source_element", "the packet's field has no such element"},
      {kNoField, "no_field", "the state has no such field, and the instruction does not create it"},
      {kNoInstruction, "no_instruction", "the instruction is empty or of an unknown kind"},
      {kCreateInSource, "create_in_source",
       "create_if_not_exist is for the state, and the cursor is the packet's"},
      {kNoFieldId, "no_field_id", "a path continues without a field_id"},
      {kLoopCursor, "loop_cursor", "is_repeated needs the cursor VM_CURSOR_SRC or VM_CURSOR_DST"},
      {kKeyInSource, "key_in_source", "a packet's fields cannot be looked up by key"},
      {kNoRegisterToMatch, "no_register_to_match", "map_key_field_id is without register_to_match"},
      {kNoSuchRegister, "no_such_register", "registers are 0 to 31"},
      {kRegisterNotLoaded, "register_not_loaded", "the register was not loaded yet"},
      {kSourceNotMessage, "source_not_message",
       "a message is expected in the packet, and a scalar is there"},
      {kSourceNotScalar, "source_not_scalar",
       "a scalar is expected in the packet, and a length-delimited field is there"},
      {kNotMessage, "not_message",
       "a message is expected in the state, and a scalar or repeated field is there"},
      {kNotIndexed, "not_indexed",
       "the state's field has elements by key, and one by index is asked for"},
      {kNotMapped, "not_mapped",
       "the state's field is a scalar, and an element by key is asked for"},
      {kNoKey, "no_key", "an element of the state lacks the key field, or it is not a scalar"},
      {kNotScalar, "not_scalar", "a scalar is expected in the state, and something else is there"},
      {kFieldIsRepeated, "field_is_repeated",
       "the state's field is repeated, and a single one is asked for"},
      {kIndexBeyondEnd, "index_beyond_end",
       "the index is more than the number of elements in the state"},
      {kOtherType, "other_type",
       "what is in the state is of another type than what it is to be set to"},
      {kFieldIsMapped, "field_is_mapped",
       "the state's field has elements by key, and cannot be merged"},
      {kMemoryLimit, "memory_limit", "the state is at its memory limit"},
      {kCursorDeleted, "cursor_deleted", "the cursor points to what was deleted before"},
      {kWouldDangle, "would_dangle",
       "the deletion would invalidate the cursor of an enclosing select"},
      {kScalarAtRoot, "scalar_at_root",
       "the state itself would become a scalar, which cannot be written"},
      {kTooManySteps, "too_many_steps", "the run needs more steps than ringscope allows"},
  });
}();

namespace protovm {

enum class NodeKind : uint8_t {
  kEmpty,
  kScalar,
  kBytes,    // undecoded content of a length-delimited field
  kMessage,  // fields by their numbers
  kIndexed,  // a repeated field: elements by their indexes
  kMapped,   // a repeated field: elements by their keys
};

struct Node;
/// The parts of a message or repeated field, by field number, index or key.
using Parts = std::map<uint64_t, Node>;

/// A node of the state. StateTree owns what it points to.
struct Node {
  union {
    uint64_t scalar = 0;
    uint8_t inlined[8];  // bytes, where they fit
    uint8_t* heap;       // bytes, else
    Parts* parts;        // nullptr: none yet
  };
  uint64_t mark = 0;        // the merge that took this field in last
  uint64_t open_merge = 0;  // of a message: the merge whose marks are valid; 0: none are
  uint32_t size = 0;        // of bytes
  NodeKind kind = NodeKind::kEmpty;
  wire::Type type = wire::Type::kVarint;  // of a scalar

  bool has_parts() const { return kind >= NodeKind::kMessage && parts != nullptr; }
  /// Returns the number of parts of a message or repeated field.
  uint64_t count() const { return parts == nullptr ? 0 : parts->size(); }
  Bytes bytes() const { return {size <= sizeof(inlined) ? inlined : heap, size}; }
};

/// The state of a VM: a tree of nodes, and the count of memory that is held against its limit: a
/// model of what the service would use, leaks included. What is really used is less than that and a
/// quarter more.
class StateTree {
 public:
  StateTree(const ProtoVmRules& rules, uint64_t limit) : rules_(rules), limit_(limit) {}
  ~StateTree() { Drop(root_, NodeKind::kEmpty); }
  StateTree(const StateTree&) = delete;
  StateTree& operator=(const StateTree&) = delete;

  Node& root() { return root_; }
  const Node& root() const { return root_; }
  uint64_t limit() const { return limit_; }
  /// Bytes counted.
  uint64_t counted() const { return counted_; }

  /// Makes a node of a field, to be inserted or freed; nullopt if the limit does not allow it.
  std::optional<Node> NewNode(const VmField& field);
  std::optional<Node> NewEmptyNode() {
    return Charge(rules_.node_bytes()) ? std::optional<Node>(Node()) : std::nullopt;
  }
  /// Gives a node that is no part, and all its own parts, back.
  void Free(Node& node);

  static Node* Find(const Node& container, uint64_t key);
  /// The part with the lowest key of at least `key`; nullptr if none.
  static Parts::value_type* FindFrom(const Node& container, uint64_t key);
  /// Adds a part whose key is not there yet, and counts its entry.
  /// @return the part; nullptr if the limit does not allow it: then the node is freed
  Node* Insert(Node& container, uint64_t key, Node node);
  /// Frees a part, whose entry is not counted any more.
  void Erase(Node& container, uint64_t key);

  // Each makes a node what its name says, if it can be that.
  Reason IntoMessage(Node& node);
  Reason IntoIndexed(Node& node);
  Reason IntoMapped(Node& node, uint32_t key_field);
  static Reason SetScalar(Node& node, wire::Type type, uint64_t value);
  Reason SetBytes(Node& node, Bytes content);
  /// Gives all parts of a repeated field back.
  void Clear(Node& node) { Drop(node, NodeKind::kIndexed); }
  /// Makes a node empty but keeps what it was in the memory accounting.
  void EmptyButCount(Node& node);

  /// The state as a protobuf message, lengths as short as possible.
  std::string Serialize() const;

 private:
  bool Charge(uint64_t bytes);
  bool FillBytes(Node& node, Bytes content);
  void FreeBytes(Node& node);
  void Drop(Node& node, NodeKind becomes);
  Reason Wrap(Node& node, NodeKind becomes, uint64_t key);
  Reason MapElements(Node& node, uint32_t key_field);

  ProtoVmRules rules_;
  uint64_t limit_;
  uint64_t counted_ = 0;
  Node root_;
};

}  // namespace protovm
}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PROTOVM_STATE_TREE_H_
