#include "core/protovm/state_tree.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <vector>

#include "core/base/lookup.h"

namespace ringscope::protovm {
namespace {

/// Writes a message from its end to its beginning, so that each length is known when it is to be
/// written.
class BackwardWriter {
 public:
  size_t size() const { return reversed_.size(); }
  void AddBytes(Bytes bytes) {
    reversed_.append(std::make_reverse_iterator(bytes.end()),
                     std::make_reverse_iterator(bytes.begin()));
  }
  void AddVarint(uint64_t value) {
    std::string forward;
    wire::AppendVarint(forward, value);
    AddBytes(wire::AsBytes(forward));
  }
  void AddTag(uint64_t number, wire::Type type) {
    AddVarint(number << 3 | static_cast<uint64_t>(type));
  }
  void AddFixed(uint64_t value, int bytes) {
    while (bytes-- > 0) reversed_.push_back(static_cast<char>(value >> (8 * bytes)));
  }
  std::string Take() {
    std::reverse(reversed_.begin(), reversed_.end());
    return std::move(reversed_);
  }

 private:
  std::string reversed_;
};

/// A message or repeated field that is being written, from its last part to its first.
struct OpenNode {
  const Node* node;
  uint64_t number;  // of the field
  size_t end;       // bytes that follow it
  Parts::const_reverse_iterator next = node->parts->rbegin();
};

void WriteLeaf(BackwardWriter& out, const Node& node, uint64_t number) {
  if (node.kind == NodeKind::kBytes || node.kind == NodeKind::kMessage) {  // an empty one
    out.AddBytes(node.bytes());
    out.AddVarint(node.size);
    out.AddTag(number, wire::Type::kBytes);
  } else if (node.kind == NodeKind::kScalar) {
    if (node.type == wire::Type::kVarint)
      out.AddVarint(node.scalar);
    else
      out.AddFixed(node.scalar, node.type == wire::Type::kFixed64 ? 8 : 4);
    out.AddTag(number, node.type);
  }
}

/// The value of an element's field, if that is a scalar.
std::optional<uint64_t> KeyOf(const Node& element, uint32_t key_field) {
  if (element.kind == NodeKind::kBytes) {
    VmFields fields(element.bytes());
    for (VmField field; fields.Next(field);) {
      if (field.number != key_field) continue;
      return field.is_scalar() ? std::optional(field.value) : std::nullopt;
    }
  }
  const Node* const key =
      element.kind == NodeKind::kMessage ? StateTree::Find(element, key_field) : nullptr;
  return key != nullptr && key->kind == NodeKind::kScalar ? std::optional(key->scalar)
                                                          : std::nullopt;
}

}  // namespace

bool StateTree::Charge(uint64_t bytes) {
  if (counted_ > limit_ || bytes > limit_ - counted_) return false;
  counted_ += bytes;
  return true;
}

bool StateTree::FillBytes(Node& node, Bytes content) {
  if (!Charge(content.size())) return false;
  node.kind = NodeKind::kBytes;
  node.size = static_cast<uint32_t>(content.size());
  uint8_t* target = node.inlined;
  if (content.size() > sizeof(node.inlined)) target = node.heap = new uint8_t[content.size()];
  if (!content.empty()) std::memcpy(target, content.data(), content.size());
  return true;
}

void StateTree::FreeBytes(Node& node) {
  counted_ -= node.size;
  if (node.size > sizeof(node.inlined)) delete[] node.heap;
}

std::optional<Node> StateTree::NewNode(const VmField& field) {
  std::optional<Node> node = NewEmptyNode();
  if (!node) return node;
  if (field.is_scalar()) {
    static_cast<void>(SetScalar(*node, field.type, field.value));
  } else if (!FillBytes(*node, field.bytes)) {
    Free(*node);
    return std::nullopt;
  }
  return node;
}

/// Gives back what a node is made of. Not recursive: a state may be as deep as a program.
void StateTree::Drop(Node& node, NodeKind becomes) {
  std::vector<Parts*> dropped;
  const auto drop = [&](Node& one) {
    if (one.kind == NodeKind::kBytes) FreeBytes(one);
    if (one.has_parts()) dropped.push_back(one.parts);
  };
  drop(node);
  while (!dropped.empty()) {
    const std::unique_ptr<Parts> parts(dropped.back());
    dropped.pop_back();
    counted_ -= parts->size() * (rules_.node_bytes() + rules_.entry_bytes());
    for (auto& [key, part] : *parts) drop(part);
  }
  node = {.mark = node.mark, .kind = becomes, .type = node.type};
}

void StateTree::Free(Node& node) {
  Drop(node, NodeKind::kEmpty);
  counted_ -= rules_.node_bytes();
}

void StateTree::EmptyButCount(Node& node) {
  const uint64_t counted = counted_;
  Drop(node, NodeKind::kEmpty);
  counted_ = counted;
}

Node* StateTree::Find(const Node& container, uint64_t key) {
  return container.parts == nullptr ? nullptr : FindIn(*container.parts, key);
}

Parts::value_type* StateTree::FindFrom(const Node& container, uint64_t key) {
  if (container.parts == nullptr) return nullptr;
  const auto part = container.parts->lower_bound(key);
  return part == container.parts->end() ? nullptr : &*part;
}

Node* StateTree::Insert(Node& container, uint64_t key, Node node) {
  if (!Charge(rules_.entry_bytes())) {
    Free(node);
    return nullptr;
  }
  if (container.parts == nullptr) container.parts = new Parts;
  return &container.parts->emplace(key, node).first->second;
}

void StateTree::Erase(Node& container, uint64_t key) {
  const auto part = container.parts->find(key);
  Free(part->second);
  container.parts->erase(part);
  counted_ -= rules_.entry_bytes();
}

Reason StateTree::IntoMessage(Node& node) {
  if (node.kind == NodeKind::kEmpty) Drop(node, NodeKind::kMessage);
  if (node.kind == NodeKind::kMessage) return Reason::kNone;
  if (node.kind != NodeKind::kBytes) return Reason::kNotMessage;
  Node decoded{.kind = NodeKind::kMessage};
  VmFields fields(node.bytes());
  for (VmField field; fields.Next(field);) {
    std::optional<Node> part = NewNode(field);
    Node* const first = Find(decoded, field.number);
    const bool is_repeated = first != nullptr;
    const bool has_place = !is_repeated || IntoIndexed(*first) == Reason::kNone;
    if (part && has_place &&
        Insert(is_repeated ? *first : decoded, is_repeated ? first->count() : field.number, *part))
      continue;
    if (part && !has_place) Free(*part);
    Drop(decoded, NodeKind::kEmpty);
    return Reason::kMemoryLimit;
  }
  FreeBytes(node);
  node = {.mark = node.mark, .kind = NodeKind::kMessage};
  node.parts = decoded.parts;
  return Reason::kNone;
}

/// Makes the node a repeated field with one element, what it was.
Reason StateTree::Wrap(Node& node, NodeKind becomes, uint64_t key) {
  if (!Charge(rules_.node_bytes())) return Reason::kMemoryLimit;
  Node element = node;
  element.mark = 0;
  node = {.mark = node.mark, .kind = becomes};
  return Insert(node, key, element) == nullptr ? Reason::kMemoryLimit : Reason::kNone;
}

Reason StateTree::IntoIndexed(Node& node) {
  if (node.kind == NodeKind::kEmpty) Drop(node, NodeKind::kIndexed);
  if (node.kind == NodeKind::kIndexed) return Reason::kNone;
  if (node.kind == NodeKind::kMapped) return Reason::kNotIndexed;
  return Wrap(node, NodeKind::kIndexed, 0);
}

Reason StateTree::IntoMapped(Node& node, uint32_t key_field) {
  if (node.kind == NodeKind::kEmpty) Drop(node, NodeKind::kMapped);
  if (node.kind == NodeKind::kMapped) return Reason::kNone;
  if (node.kind == NodeKind::kScalar) return Reason::kNotMapped;
  if (node.kind == NodeKind::kIndexed) return MapElements(node, key_field);
  const std::optional<uint64_t> key = KeyOf(node, key_field);
  return key ? Wrap(node, NodeKind::kMapped, *key) : Reason::kNoKey;
}

/// Moves the elements of an indexed field under their keys. What gets lost stays counted, entries
/// included.
Reason StateTree::MapElements(Node& node, uint32_t key_field) {
  Node mapped{.kind = NodeKind::kMapped};
  mapped.parts = new Parts;
  while (node.count() > 0) {
    auto element = node.parts->extract(node.parts->begin());
    const std::optional<uint64_t> key = KeyOf(element.mapped(), key_field);
    if (key && !mapped.parts->contains(*key)) {
      element.key() = *key;
      mapped.parts->insert(std::move(element));
      continue;
    }
    EmptyButCount(element.mapped());
    if (key) continue;
    EmptyButCount(mapped);
    return Reason::kNoKey;
  }
  delete node.parts;
  node.kind = NodeKind::kMapped;
  node.parts = mapped.parts;
  return Reason::kNone;
}

Reason StateTree::SetScalar(Node& node, wire::Type type, uint64_t value) {
  if (node.kind != NodeKind::kEmpty && node.kind != NodeKind::kScalar) return Reason::kOtherType;
  node.kind = NodeKind::kScalar;
  node.type = type;
  node.scalar = value;
  return Reason::kNone;
}

Reason StateTree::SetBytes(Node& node, Bytes content) {
  if (node.kind != NodeKind::kEmpty && node.kind != NodeKind::kBytes &&
      node.kind != NodeKind::kMessage)
    return Reason::kOtherType;
  Node filled;  // old and new content are there at the same time
  if (!FillBytes(filled, content)) return Reason::kMemoryLimit;
  Drop(node, NodeKind::kBytes);
  std::memcpy(node.inlined, filled.inlined, sizeof(node.inlined));
  node.size = filled.size;
  return Reason::kNone;
}

std::string StateTree::Serialize() const {
  if (root_.kind == NodeKind::kBytes) return std::string(wire::AsText(root_.bytes()));
  if (!root_.has_parts()) return {};
  BackwardWriter out;
  std::vector<OpenNode> open = {{&root_, 0, 0}};
  while (!open.empty()) {
    OpenNode& top = open.back();
    if (top.next != top.node->parts->rend()) {
      const auto& [key, part] = *top.next++;
      const uint64_t number = top.node->kind == NodeKind::kMessage ? key : top.number;
      if (part.has_parts())
        open.push_back({&part, number, out.size()});
      else
        WriteLeaf(out, part, number);
      continue;
    }
    if (top.node->kind == NodeKind::kMessage && open.size() > 1) {
      out.AddVarint(out.size() - top.end);
      out.AddTag(top.number, wire::Type::kBytes);
    }
    open.pop_back();
  }
  return out.Take();
}

}  // namespace ringscope::protovm
