// A state as a protobuf message.

#include <algorithm>
#include <iterator>

#include "core/protovm/state_tree.h"

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
