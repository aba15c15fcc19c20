#ifndef RINGSCOPE_CORE_PROTOVM_STATE_TREE_H_
#define RINGSCOPE_CORE_PROTOVM_STATE_TREE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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

/// A node of the state. Those of a message or repeated field are in a balanced (AVL) tree.
struct Node {
  uint64_t key = 0;  // in what it is part of: field number, index or key
  Node* left = nullptr;
  Node* right = nullptr;
  union {
    uint64_t scalar = 0;
    uint8_t inlined[8];  // bytes, where they fit
    uint8_t* heap;       // bytes, else
    Node* root;          // of the tree of parts
  };
  uint64_t mark = 0;        // the merge that took this field in last
  uint64_t open_merge = 0;  // of a message: the merge whose marks are valid; 0: none are
  uint32_t size = 0;        // of bytes; or number of parts
  NodeKind kind = NodeKind::kEmpty;
  wire::Type type = wire::Type::kVarint;  // of a scalar
  uint8_t height = 1;                     // in the tree that it is in

  bool has_parts() const { return kind >= NodeKind::kMessage; }
  Bytes bytes() const { return {size <= sizeof(inlined) ? inlined : heap, size}; }
};

/// The state of a VM: a tree of nodes, and the count of memory that is held against its limit: a
/// model of what the service would use, leaks included. What is really used is less than that and a
/// quarter more.
class StateTree {
 public:
  StateTree(const ProtoVmRules& rules, uint64_t limit);
  ~StateTree();
  StateTree(const StateTree&) = delete;
  StateTree& operator=(const StateTree&) = delete;

  Node& root() { return root_; }
  const Node& root() const { return root_; }
  uint64_t limit() const { return limit_; }
  /// Bytes counted.
  uint64_t counted() const { return counted_; }
  /// Bytes of memory really taken from the system, without the overhead of its allocator.
  uint64_t taken() const { return taken_; }

  /// Makes a node of a field; nullptr if the limit does not allow it.
  Node* NewNode(const VmField& field);
  Node* NewEmptyNode();
  /// Gives a node and all its parts back.
  void Free(Node* node);
  /// Frees the node but keeps it in the memory accounting.
  void FreeButCount(Node* node);

  static Node* Find(const Node& container, uint64_t key);
  /// The part with the lowest key of at least `key`; nullptr if none.
  static Node* FindFrom(const Node& container, uint64_t key);
  /// The part with the highest key of at most `key`; nullptr if none.
  static Node* FindUpTo(const Node& container, uint64_t key);
  /// Adds a part whose key is not there yet, and counts its entry.
  /// @return false if the limit does not allow it: then the node is still the caller's
  bool Insert(Node& container, uint64_t key, Node* node);
  /// Takes a part out; its entry is not counted any more.
  void Remove(Node& container, Node& part);
  /// Removes the old part and puts the new one in its place.
  void Replace(Node& container, Node& old, Node* node);

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
  struct Block;

  bool Charge(uint64_t bytes);
  Node* TakeNode();
  bool FillBytes(Node& node, Bytes content);
  void FreeBytes(Node& node);
  void Drop(Node& node, NodeKind becomes);
  bool Wrap(Node& node, NodeKind becomes, uint64_t key);
  Reason MapElements(Node& node, uint32_t key_field);
  static std::optional<uint64_t> KeyOf(const Node& element, uint32_t key_field);
  static void Link(Node& container, Node* node);
  static void Unlink(Node& container, Node& part);

  ProtoVmRules rules_;
  uint64_t limit_;
  uint64_t counted_ = 0;
  uint64_t taken_ = 0;
  Node root_;
  std::vector<std::unique_ptr<Node[]>> blocks_;
  size_t block_size_ = 0;  // nodes in the last block, and those of them that were handed out
  size_t block_used_ = 0;
  size_t nodes_made_ = 0;       // in all blocks
  Node* free_ = nullptr;        // linked by `left`
  std::vector<Node*> dropped_;  // scratch
};

}  // namespace ringscope::protovm

#endif  // RINGSCOPE_CORE_PROTOVM_STATE_TREE_H_
