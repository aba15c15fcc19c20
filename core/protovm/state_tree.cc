#include "core/protovm/state_tree.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace ringscope::protovm {
namespace {

/// More than a tree of 2^32 nodes is high.
constexpr size_t kMaxHeight = 48;
constexpr size_t kFirstBlock = 8;
constexpr size_t kLargestBlock = 1024;

uint8_t HeightOf(const Node* node) { return node == nullptr ? 0 : node->height; }

void Measure(Node& node) {
  node.height = static_cast<uint8_t>(1 + std::max(HeightOf(node.left), HeightOf(node.right)));
}

Node* RotateRight(Node* top) {
  Node* const left = top->left;
  top->left = left->right;
  left->right = top;
  Measure(*top);
  Measure(*left);
  return left;
}

Node* RotateLeft(Node* top) {
  Node* const right = top->right;
  top->right = right->left;
  right->left = top;
  Measure(*top);
  Measure(*right);
  return right;
}

/// The subtree in balance, after one insertion or removal in it.
Node* Balanced(Node* top) {
  const int lean = HeightOf(top->left) - HeightOf(top->right);
  if (lean > 1) {
    if (HeightOf(top->left->left) < HeightOf(top->left->right)) top->left = RotateLeft(top->left);
    return RotateRight(top);
  }
  if (lean < -1) {
    if (HeightOf(top->right->right) < HeightOf(top->right->left))
      top->right = RotateRight(top->right);
    return RotateLeft(top);
  }
  Measure(*top);
  return top;
}

/// Balances what is above a changed place, from the nearest link on.
void BalanceUpwards(Node** const* links, size_t count) {
  while (count > 0) {
    Node** const link = links[--count];
    const uint8_t height = (*link)->height;
    Node* const before = *link;
    *link = Balanced(*link);
    if (*link == before && before->height == height) return;
  }
}

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
  uint64_t number;      // of the field
  size_t end;           // bytes that follow it
  uint64_t next_up_to;  // key of the next part, at most
  bool done;
};

void WriteLeaf(BackwardWriter& out, const Node& node, uint64_t number) {
  if (node.kind == NodeKind::kBytes) {
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

}  // namespace

StateTree::StateTree(const ProtoVmRules& rules, uint64_t limit) : rules_(rules), limit_(limit) {}

StateTree::~StateTree() { Drop(root_, NodeKind::kEmpty); }

bool StateTree::Charge(uint64_t bytes) {
  if (counted_ > limit_ || bytes > limit_ - counted_) return false;
  counted_ += bytes;
  return true;
}

Node* StateTree::TakeNode() {
  if (free_ != nullptr) {
    Node* const node = free_;
    free_ = node->left;
    *node = Node{};
    return node;
  }
  if (block_used_ == block_size_) {
    block_size_ = std::clamp(nodes_made_ / 4, kFirstBlock, kLargestBlock);
    block_used_ = 0;
    blocks_.push_back(std::make_unique<Node[]>(block_size_));
    nodes_made_ += block_size_;
    taken_ += block_size_ * sizeof(Node);
  }
  return &blocks_.back()[block_used_++];
}

bool StateTree::FillBytes(Node& node, Bytes content) {
  if (!Charge(content.size())) return false;
  node.kind = NodeKind::kBytes;
  node.size = static_cast<uint32_t>(content.size());
  uint8_t* target = node.inlined;
  if (content.size() > sizeof(node.inlined)) {
    target = node.heap = new uint8_t[content.size()];
    taken_ += content.size();
  }
  if (!content.empty()) std::memcpy(target, content.data(), content.size());
  return true;
}

void StateTree::FreeBytes(Node& node) {
  counted_ -= node.size;
  if (node.size <= sizeof(node.inlined)) return;
  taken_ -= node.size;
  delete[] node.heap;
}

Node* StateTree::NewEmptyNode() { return Charge(rules_.node_bytes()) ? TakeNode() : nullptr; }

Node* StateTree::NewNode(const VmField& field) {
  Node* const node = NewEmptyNode();
  if (node == nullptr) return nullptr;
  if (field.is_scalar()) {
    node->kind = NodeKind::kScalar;
    node->type = field.type;
    node->scalar = field.value;
  } else if (!FillBytes(*node, field.bytes)) {
    Free(node);
    return nullptr;
  }
  return node;
}

/// Gives back what a node is made of. Not recursive: a state may be as deep as a program.
void StateTree::Drop(Node& node, NodeKind becomes) {
  if (node.kind == NodeKind::kBytes) {
    FreeBytes(node);
  } else if (node.has_parts()) {
    if (node.root != nullptr) dropped_.push_back(node.root);
    while (!dropped_.empty()) {
      Node* const part = dropped_.back();
      dropped_.pop_back();
      if (part->left != nullptr) dropped_.push_back(part->left);
      if (part->right != nullptr) dropped_.push_back(part->right);
      if (part->kind == NodeKind::kBytes) FreeBytes(*part);
      if (part->has_parts() && part->root != nullptr) dropped_.push_back(part->root);
      counted_ -= rules_.node_bytes() + rules_.entry_bytes();
      part->left = free_;
      free_ = part;
    }
  }
  node.kind = becomes;
  node.scalar = 0;
  if (node.has_parts()) node.root = nullptr;
  node.size = 0;
  node.open_merge = 0;
}

void StateTree::Free(Node* node) {
  Drop(*node, NodeKind::kEmpty);
  counted_ -= rules_.node_bytes();
  node->left = free_;
  free_ = node;
}

void StateTree::FreeButCount(Node* node) {
  const uint64_t counted = counted_;
  Free(node);
  counted_ = counted;
}

void StateTree::EmptyButCount(Node& node) {
  const uint64_t counted = counted_;
  Drop(node, NodeKind::kEmpty);
  counted_ = counted;
}

Node* StateTree::Find(const Node& container, uint64_t key) {
  Node* node = container.root;
  while (node != nullptr && node->key != key) node = key < node->key ? node->left : node->right;
  return node;
}

Node* StateTree::FindFrom(const Node& container, uint64_t key) {
  Node* best = nullptr;
  for (Node* node = container.root; node != nullptr;) {
    if (node->key >= key) {
      best = node;
      node = node->left;
    } else {
      node = node->right;
    }
  }
  return best;
}

Node* StateTree::FindUpTo(const Node& container, uint64_t key) {
  Node* best = nullptr;
  for (Node* node = container.root; node != nullptr;) {
    if (node->key <= key) {
      best = node;
      node = node->right;
    } else {
      node = node->left;
    }
  }
  return best;
}

/// Adds a part whose key is not there yet.
void StateTree::Link(Node& container, Node* node) {
  Node** links[kMaxHeight];
  size_t depth = 0;
  Node** link = &container.root;
  while (*link != nullptr) {
    links[depth++] = link;
    link = node->key < (*link)->key ? &(*link)->left : &(*link)->right;
  }
  node->left = node->right = nullptr;
  node->height = 1;
  *link = node;
  ++container.size;
  BalanceUpwards(links, depth);
}

void StateTree::Unlink(Node& container, Node& part) {
  Node** links[kMaxHeight];
  size_t depth = 0;
  Node** link = &container.root;
  while (*link != &part) {
    links[depth++] = link;
    link = part.key < (*link)->key ? &(*link)->left : &(*link)->right;
  }
  if (part.left != nullptr && part.right != nullptr) {
    // Its successor takes its place.
    const size_t right = depth + 1;
    links[depth++] = link;
    Node** lowest = &part.right;
    links[depth++] = lowest;
    while ((*lowest)->left != nullptr) links[depth++] = lowest = &(*lowest)->left;
    --depth;
    Node* const successor = *lowest;
    *lowest = successor->right;
    successor->left = part.left;
    successor->right = part.right;
    successor->height = part.height;
    *link = successor;
    if (depth > right) links[right] = &successor->right;
  } else {
    *link = part.left != nullptr ? part.left : part.right;
  }
  --container.size;
  BalanceUpwards(links, depth);
}

bool StateTree::Insert(Node& container, uint64_t key, Node* node) {
  if (!Charge(rules_.entry_bytes())) return false;
  node->key = key;
  Link(container, node);
  return true;
}

void StateTree::Remove(Node& container, Node& part) {
  Unlink(container, part);
  counted_ -= rules_.entry_bytes();
}

void StateTree::Replace(Node& container, Node& old, Node* node) {
  Unlink(container, old);
  node->key = old.key;
  Link(container, node);
  Free(&old);
}

Reason StateTree::IntoMessage(Node& node) {
  if (node.kind == NodeKind::kMessage) return Reason::kNone;
  if (node.kind == NodeKind::kEmpty) {
    Drop(node, NodeKind::kMessage);
    return Reason::kNone;
  }
  if (node.kind != NodeKind::kBytes) return Reason::kNotMessage;
  Node decoded;
  decoded.kind = NodeKind::kMessage;
  decoded.root = nullptr;
  VmFields fields(node.bytes());
  for (VmField field; fields.Next(field);) {
    Node* const part = NewNode(field);
    bool fits = part != nullptr;
    if (fits) {
      Node* const first = Find(decoded, field.number);
      fits = first == nullptr
                 ? Insert(decoded, field.number, part)
                 : IntoIndexed(*first) == Reason::kNone && Insert(*first, first->size, part);
      if (!fits) Free(part);
    }
    if (!fits) {
      Drop(decoded, NodeKind::kEmpty);
      return Reason::kMemoryLimit;
    }
  }
  FreeBytes(node);
  node.kind = NodeKind::kMessage;
  node.root = decoded.root;
  node.size = decoded.size;
  node.open_merge = 0;
  return Reason::kNone;
}

/// Makes the node a repeated field with one element, what it was.
bool StateTree::Wrap(Node& node, NodeKind becomes, uint64_t key) {
  Node* const element = NewEmptyNode();
  if (element == nullptr) return false;
  std::memcpy(element->inlined, node.inlined, sizeof(node.inlined));
  element->size = node.size;
  element->kind = node.kind;
  element->type = node.type;
  element->open_merge = node.open_merge;
  node.kind = becomes;
  node.root = nullptr;
  node.size = 0;
  node.open_merge = 0;
  if (Insert(node, key, element)) return true;
  Free(element);
  return false;
}

Reason StateTree::IntoIndexed(Node& node) {
  switch (node.kind) {
    case NodeKind::kIndexed:
      return Reason::kNone;
    case NodeKind::kEmpty:
      Drop(node, NodeKind::kIndexed);
      return Reason::kNone;
    case NodeKind::kMapped:
      return Reason::kNotIndexed;
    default:
      return Wrap(node, NodeKind::kIndexed, 0) ? Reason::kNone : Reason::kMemoryLimit;
  }
}

std::optional<uint64_t> StateTree::KeyOf(const Node& element, uint32_t key_field) {
  if (element.kind == NodeKind::kBytes) {
    VmFields fields(element.bytes());
    for (VmField field; fields.Next(field);) {
      if (field.number != key_field) continue;
      return field.is_scalar() ? std::optional(field.value) : std::nullopt;
    }
  }
  if (element.kind == NodeKind::kMessage) {
    const Node* const key = Find(element, key_field);
    if (key != nullptr && key->kind == NodeKind::kScalar) return key->scalar;
  }
  return std::nullopt;
}

Reason StateTree::IntoMapped(Node& node, uint32_t key_field) {
  switch (node.kind) {
    case NodeKind::kMapped:
      return Reason::kNone;
    case NodeKind::kEmpty:
      Drop(node, NodeKind::kMapped);
      return Reason::kNone;
    case NodeKind::kScalar:
      return Reason::kNotMapped;
    case NodeKind::kIndexed:
      return MapElements(node, key_field);
    default:
      break;
  }
  const std::optional<uint64_t> key = KeyOf(node, key_field);
  if (!key) return Reason::kNoKey;
  return Wrap(node, NodeKind::kMapped, *key) ? Reason::kNone : Reason::kMemoryLimit;
}

/// Moves the elements of an indexed field under their keys. What gets lost stays counted, entries
/// included.
Reason StateTree::MapElements(Node& node, uint32_t key_field) {
  Node mapped;
  mapped.kind = NodeKind::kMapped;
  mapped.root = nullptr;
  while (Node* const element = FindFrom(node, 0)) {
    Unlink(node, *element);
    const std::optional<uint64_t> key = KeyOf(*element, key_field);
    if (key && Find(mapped, *key) == nullptr) {
      element->key = *key;
      Link(mapped, element);
      continue;
    }
    FreeButCount(element);
    if (key) continue;
    EmptyButCount(mapped);
    return Reason::kNoKey;
  }
  node.kind = NodeKind::kMapped;
  node.root = mapped.root;
  node.size = mapped.size;
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
  std::vector<OpenNode> open = {{&root_, 0, 0, UINT64_MAX, false}};
  while (!open.empty()) {
    OpenNode& top = open.back();
    const Node* const part = top.done ? nullptr : FindUpTo(*top.node, top.next_up_to);
    if (part == nullptr) {
      if (top.node->kind == NodeKind::kMessage && open.size() > 1) {
        out.AddVarint(out.size() - top.end);
        out.AddTag(top.number, wire::Type::kBytes);
      }
      open.pop_back();
      continue;
    }
    top.done = part->key == 0;
    top.next_up_to = part->key - 1;
    const uint64_t number = top.node->kind == NodeKind::kMessage ? part->key : top.number;
    if (part->has_parts())
      open.push_back({part, number, out.size(), UINT64_MAX, false});
    else
      WriteLeaf(out, *part, number);
  }
  return out.Take();
}

}  // namespace ringscope::protovm
