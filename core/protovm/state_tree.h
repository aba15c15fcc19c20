#ifndef RINGSCOPE_CORE_PROTOVM_STATE_TREE_H_
#define RINGSCOPE_CORE_PROTOVM_STATE_TREE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/protovm/protovm_rules.h"
#include "core/protovm/vm_outcome.h"
#include "core/protovm/vm_program.h"

namespace ringscope::protovm {

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
  std::optional<Node> NewEmptyNode();
  /// Gives a node that is no part, and all its own parts, back.
  void Free(Node& node);
  /// Frees the node but keeps it in the memory accounting.
  void FreeButCount(Node& node);

  static Node* Find(const Node& container, uint64_t key);
  /// The part with the lowest key of at least `key`; nullptr if none.
  static Parts::value_type* FindFrom(const Node& container, uint64_t key);
  /// Adds a part whose key is not there yet, and counts its entry.
  /// @return the part; nullptr if the limit does not allow it: then the node is freed
  Node* Insert(Node& container, uint64_t key, Node node);
  /// Frees a part, whose entry is not counted any more.
  void Erase(Node& container, uint64_t key);
  /// Frees what a part is and makes it `node`.
  void Replace(Node& part, const Node& node);

  // Each makes a node what its name says, if it can be that.
  Reason IntoMessage(Node& node);
  Reason IntoIndexed(Node& node);
  Reason IntoMapped(Node& node, uint32_t key_field);
  static Reason SetScalar(Node& node, wire::Type type, uint64_t value);
  Reason SetBytes(Node& node, Bytes content);
  /// Gives all parts of a repeated field back.
  void Clear(Node& node) { Drop(node, NodeKind::kIndexed); }
  /// Makes a node empty; what it was stays counted.
  void EmptyButCount(Node& node);

  /// The state as a protobuf message, lengths as short as possible.
  std::string Serialize() const;

 private:
  bool Charge(uint64_t bytes);
  bool FillBytes(Node& node, Bytes content);
  void FreeBytes(Node& node);
  void Drop(Node& node, NodeKind becomes);
  bool Wrap(Node& node, NodeKind becomes, uint64_t key);
  Reason MapElements(Node& node, uint32_t key_field);
  static std::optional<uint64_t> KeyOf(const Node& element, uint32_t key_field);

  ProtoVmRules rules_;
  uint64_t limit_;
  uint64_t counted_ = 0;
  Node root_;
};

}  // namespace ringscope::protovm

#endif  // RINGSCOPE_CORE_PROTOVM_STATE_TREE_H_
